// A folder of pages: an index, and a page for each machine.
#pragma once

#include <string>
#include <vector>

#include "src/app/options.hpp"
#include "src/app/report_files.hpp"

namespace mgsync {

// Whether --html names a folder: it ends in "/", or is one.
bool is_folder(const std::string& name);

// Writes index.html and "4-x-nvidia-h200.html" and so on into the folder --html, which is made if it is not
// there. Sentences of evaluations that threw are appended to `failed`. Returns the name of the index.
std::string write_folder(const options&, report_files, std::vector<std::string>& failed);

}  // namespace mgsync
