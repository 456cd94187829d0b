// Reading back what an earlier command measured, whichever of its files is there: the document (--json) or
// the store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/results/json_document.hpp"
#include "src/results/store.hpp"

namespace mgsync {

struct result_file {
  std::string name;                          // as it was given
  json_document document;                    // of a store: its finished points, with their samples
  std::vector<unfinished_point> unfinished;  // of a store: what has samples but no result
  bool is_store = false;
  bool complete = true;             // its last command reached its end
  std::vector<std::string> damage;  // of a store: a sentence each
};

// Throws usage_error, beginning with the file's name, when it cannot be opened or is neither.
result_file read_result_file(const std::string& name);
// The same of its text, where that was read already: a pipe gives it once.
result_file result_file_of(const std::string& name, std::string_view text);

}  // namespace mgsync
