// What `mgsync report` says of results files and machine descriptions, as a page.
#pragma once

#include <string>
#include <vector>

#include "src/app/options.hpp"
#include "src/app/report_files.hpp"
#include "src/report/page.hpp"

namespace mgsync {

// Refers to the results in the files, which must outlive it. Sentences of evaluations that threw are appended
// to `failed`.
report::page page_of(const options&, const report_files&, std::vector<std::string>& failed);

}  // namespace mgsync
