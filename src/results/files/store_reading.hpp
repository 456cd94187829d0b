// Reads a store line by line, for readers of results and for opening it to continue.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "src/results/files/store.hpp"

namespace mgsync {

struct store_scan {
  bool begun = false;  // the header is intact; false: the file is empty or its header incomplete
  store_contents contents;
  std::uint64_t whole_bytes = 0;  // bytes up to and including the last newline, to which the file is cut back
  std::set<std::string> described;  // short keys of the points that a line of the file describes
};

// Throws usage_error when the file cannot be read, is no store, or is one of another schema.
store_scan scan_store(const std::filesystem::path& file);

// The same for a text that was read already; `name` is used in messages.
store_scan scan_store_text(std::string_view text, const std::string& name);

// Throws usage_error where the store is empty.
store_contents contents_of(store_scan, const std::string& name);

}  // namespace mgsync
