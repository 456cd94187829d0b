// The barriers of a user's file as a backend, measured like those of this program: a record that is made when
// the file is named, and that lives as long as the process.
#pragma once

#include <string>
#include <vector>

#include "barriers/backend.hpp"

namespace mgsync::user {

// Named after the file: "mine.so", with its barriers as variants. The file is loaded once. Throws usage_error
// where it holds no barriers, or where another file of that name was loaded.
const backend& backend_of_file(const std::string& path);

std::vector<const backend*> loaded_backends();

}  // namespace mgsync::user
