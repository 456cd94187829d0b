// A form of file that says something of a machine, for --topology FILE: one record each. docs/extending.md
// has the recipe for another one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "topology/machine.hpp"

namespace mgsync::topology {

struct file_source {
  std::string_view name;  // in messages: "hwloc XML of version 2 (lstopo --of xml)"
  // Whether the text is of this form, by how it begins; what is wrong further on is for `add` to say.
  bool (*recognizes)(std::string_view text);
  // Adds what the text says to an empty machine, and nothing that it does not say. Throws usage_error
  // "origin:line: what is wrong; accepted: what".
  void (*add)(machine&, std::string_view text, const std::string& origin);
};

// Every form that is read.
std::span<const file_source> file_sources();

// The text without its first blanks and its byte-order mark.
std::string_view from_its_beginning(std::string_view text);

}  // namespace mgsync::topology
