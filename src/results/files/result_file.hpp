// Reads what an earlier command measured, from its document (--json) or its store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/results/files/json_document.hpp"
#include "src/results/files/store.hpp"
#include "src/results/frame/table.hpp"

namespace mgsync {

struct result_file {
  std::string name;                          // the name by which the file was given
  json_document document;                    // for a store: its finished points, with their samples
  std::vector<unfinished_point> unfinished;  // for a store: points with samples but no result
  bool is_store = false;
  bool complete = true;             // its last command reached its end
  std::vector<std::string> damage;  // for a store: a sentence for each damaged part
};

// Throws usage_error, beginning with the file's name, when it cannot be opened or is neither a document nor a
// store.
result_file read_result_file(const std::string& name);
// The same from a text that was read already, as a pipe can be read only once.
result_file result_file_of(const std::string& name, std::string_view text);

// Which commit of mgsync measured each file, when and on what, with what care.
table made_by(const std::vector<std::string>& files);

}  // namespace mgsync
