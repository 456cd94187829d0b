// Runs what may hang, crash or exhaust memory in a process of its own, which harms only itself: it ends
// within a given time, with all that it has started, and it dies with this process.
//
//   run_child({.command = {"mpirun", "-np", "2", "true"}, .longest = std::chrono::seconds(20)});
//   run_child({.work = [&] { return parse(text); }, .longest = std::chrono::seconds(20), .memory = 1 << 30});
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

struct child_order {
  std::vector<std::string> command{};   // a program with its arguments, found in PATH; or
  std::function<std::string()> work{};  // what a copy of this process does, without its other threads
  std::string program{};                // the file to be executed, where that is not command[0]
  std::map<std::string, std::string> environment{};  // added to that of this process
  std::optional<std::chrono::nanoseconds> longest{};
  // How long it may go on once it was told to end: by SIGTERM after `longest`, or by the signal that asked
  // this process to end. Then it is killed, at once by default.
  std::chrono::nanoseconds grace{};
  bool output_kept = true;  // otherwise stdout is discarded, and stderr is that of this process
  std::size_t most_output = std::size_t{16} << 20;
  std::optional<std::size_t> memory{};  // of work: bytes beyond what this process has mapped already
  int dies_by = SIGKILL;                // the signal that it gets when this process ends
};

struct child_end {
  bool started = false;
  std::string out{}, err{};  // its stdout and stderr; of work, `out` is what it returned
  int code = -1;             // the exit code; 128 + signal where a signal ended it
  bool outlived = false;     // it was still running after `longest`
  bool interrupted = false;  // this process was asked to end
  // Why it did not end by itself with exit code 0: "it took longer than 20 s", "it crashed (Aborted)",
  // "/a/b cannot be started: No such file or directory". Empty: it did.
  std::string death{};
};

// Returns once the child and its process group are gone. An exception in `work` is a death; what `work`
// writes on stdout and stderr is lost, and it leaves no core file. Throws api_error where no process can be
// made.
child_end run_child(const child_order&);

// The file of the running program, for a child that is to run it.
inline constexpr std::string_view this_program = "/proc/self/exe";

// The whole path of a program in PATH; empty: there is none.
std::string find_in_path(const std::string& program);

// Writes all of it, whatever signals come; false where that cannot be done.
bool write_all(int descriptor, std::string_view text);

}  // namespace mgsync
