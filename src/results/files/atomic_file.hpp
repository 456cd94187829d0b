// Writes files so that after a crash they are complete or have their old content.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {

// The system did not write a file: which one, and why. Exit 1.
class write_error : public error {
 public:
  using error::error;
};
// Throws it, built from errno, when `result` is negative; `action` says what failed: "writing 'a.json'".
void check_written(int result, std::string_view action);

// Replaces `file` by `content`: a temporary file beside it, fsync, rename, fsync of the directory. A symbolic
// link is followed; a file that is not regular (a pipe, /dev/stdout) is written to directly. Throws
// usage_error when the file cannot be created there, write_error when writing fails; the old content then
// stands.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

// Why write_file_atomically would fail, found without changing the file; empty where it would not.
std::string why_not_writable(const std::filesystem::path& file);

// Appends a line, which begins a line of its own also where the last one was cut short. Throws usage_error
// where the file cannot be opened, write_error when writing fails.
void append_line(const std::filesystem::path& file, const std::string& line);
// Why it would fail, found without changing the file; empty where it would not.
std::string why_not_appendable(const std::filesystem::path& file);

// The path after following symbolic links, also those to a file that does not exist yet.
std::filesystem::path behind_links(const std::filesystem::path& file);

// Makes the name of `file` in its directory durable. Throws write_error.
void sync_directory_of(const std::filesystem::path& file);

}  // namespace mgsync
