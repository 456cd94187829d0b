// stdin, stdout and stderr: trouble with them never costs a result. A stderr that cannot be written is
// ignored, a reader that leaves (`| head`) ends a command only once its files are written, and results that
// could not be written to stdout are reported.
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

// From now on SIGPIPE does not end this process, so that a command still writes its files after the reader of
// its output has left. Child processes get the default action.
void outlive_readers() noexcept;

// Writes the text unchanged to stderr's file descriptor, without the lock of the FILE: a watchdog may write
// while another thread is stuck in it. Never throws; what cannot be written is lost.
void put_on_stderr(std::string_view text) noexcept;

// Writes the text to stdout and flushes it. Never throws; end_of_stdout() reports what was lost.
void put_on_stdout(std::string_view text) noexcept;

// Formats a message and writes it to stderr, with control characters escaped (printable()).
template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) noexcept {
  try {
    put_on_stderr(printable(fmt::format(text, std::forward<Arguments>(arguments)...)));
  } catch (...) { put_on_stderr("mgsync: there is no memory for what was to be said\n"); }
}

// The same on stdout, for text that people read. Throws where it cannot be written.
template <class... Arguments>
void tell(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print("{}", printable(fmt::format(text, std::forward<Arguments>(arguments)...)));
}

// Whether this was thrown by a failed write to stdout; end_of_stdout() then reports it.
bool is_of_stdout(const std::exception&) noexcept;

// Called last by a program, with its exit code; returns the code to exit with. That is `code` where
// everything was written to stdout. Otherwise a sentence on stderr says so, and a `code` of 0 becomes 1;
// where the reader has left and `code` is 0, the process ends by SIGPIPE, as it would have while writing.
int end_of_stdout(int code) noexcept;

}  // namespace mgsync
