// Reading a store line by line, for the flat reader and for opening one to go on with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "src/results/store.hpp"

namespace mgsync {

struct store_scan {
  bool begun = false;  // an intact header stands in front; otherwise empty, or torn in the header
  store_contents contents;
  std::uint64_t whole_bytes = 0;    // up to and with the last newline: what to cut the file back to
  std::set<std::string> described;  // short keys of the points that a line of the file describes
};

// Throws usage_error when the file cannot be read, is no store, or is one of another schema.
store_scan scan_store(const std::filesystem::path& file);

// The same of a text that was read already; `name` is for sentences.
store_scan scan_store_text(std::string_view text, const std::string& name);

// Throws usage_error where the store is empty.
store_contents contents_of(store_scan, const std::string& name);

}  // namespace mgsync
