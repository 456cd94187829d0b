// stdin, stdout and stderr: what is said on them never costs a result. A stderr that cannot be written is
// done without, a reader that leaves (`| head`) ends a command only once its files are there, and results
// that stdout did not take are told of.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "src/base/printable.hpp"

namespace mgsync {

// The first thing that a program does: opens /dev/null in place of each of the three that is closed, or the
// next file that is opened would take its number, and the text that is meant for it.
void open_standard_streams() noexcept;

// From now on a reader that leaves ends no write to it with SIGPIPE: for commands that have files to write. A
// child process starts without this.
void outlive_readers() noexcept;

// Writes to stderr as it is, and past its lock: a watchdog may speak while another thread is stuck there.
// Never throws; what cannot be written is lost.
void put_on_stderr(std::string_view text) noexcept;

// The same to stdout, and flushes it; end_of_stdout tells of what was lost.
void put_on_stdout(std::string_view text) noexcept;

// Formats, and puts it on stderr; names in it steer no terminal.
template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) noexcept {
  try {
    put_on_stderr(printable(fmt::format(text, std::forward<Arguments>(arguments)...)));
  } catch (...) { put_on_stderr("mgsync: there is no memory for what was to be said\n"); }
}

// The same on stdout: for people. What cannot be written throws.
template <class... Arguments>
void tell(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print("{}", printable(fmt::format(text, std::forward<Arguments>(arguments)...)));
}

// Whether this was thrown by a write to stdout: end_of_stdout tells of it.
bool is_of_stdout(const std::exception&) noexcept;

// The last thing that a program does: the exit code, where all that was meant for stdout got there, or `code`
// tells of something worse. Else 1, with a sentence on stderr; where its reader has left there is nobody to
// tell, and the process ends by SIGPIPE, as it would have in writing.
int end_of_stdout(int code) noexcept;

}  // namespace mgsync
