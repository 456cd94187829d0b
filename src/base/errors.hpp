// The exceptions and the exit codes. That a barrier cannot run on this machine is no exception but a value
// (barriers/backend.hpp).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/source_location.hpp"

namespace mgsync { inline namespace v1 {

// The exit codes of the process. After a signal it is 128 + the signal's number.
enum class exit_code : int {
  success = 0,         // measured, and every barrier passed its check
  failure = 1,         // a library call or the program failed, or a rank was lost
  usage = 2,           // wrong option, value or input file
  barrier_failed = 3,  // a barrier was violated or a member did not arrive in time
  all_waived = 4,      // nothing could be measured here
  gate_shut = 5,       // a comparison found what its gate does not let through
};

#pragma GCC visibility push(default)  // so that callers of a shared library of mgsync can catch these

// The base class of all exceptions of mgsync.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Wrong use: the message names the option, the value and what is accepted. Exit 2.
class usage_error : public error {
 public:
  using error::error;
};

// A grid that did not arrive at a barrier in full: its rank in the group, and the blocks that are missing.
struct absent_grid {
  unsigned grid_rank = 0;
  std::vector<unsigned> blocks{};  // empty for a GPU of another process, whose blocks this process cannot see
};

// A member did not arrive, or a rank did not answer, before the deadline. Exit 3.
class timeout_error : public error {
 public:
  explicit timeout_error(const std::string& what, std::vector<absent_grid> who = {})
      : error(what), who_(std::move(who)) {}
  // Who did not arrive at a barrier of the library; empty where that is unknown, or for other waits.
  const std::vector<absent_grid>& who() const noexcept { return who_; }

 private:
  std::vector<absent_grid> who_;
};

// A rank of the job is gone, or stopped for longer than the deadline. Says nothing about the barrier. Exit 1.
class rank_lost : public error {
 public:
  using error::error;
};

// A call into a library or the system failed. Exit 1.
class api_error : public error {
 public:
  // `action` says what was being done to which object: "recording event on GPU 3"; `code` is the library's
  // own number of the error, 0 where it has none.
  api_error(std::string_view library, std::string_view failure, std::string_view action,
            source_location where = source_location::current(), int code = 0);
  // A cudaError_t for library "CUDA", a CUresult for "CUDA driver", an errno for "system"; 0: none.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

#pragma GCC visibility pop

// Throws api_error built from errno when `result` is negative; returns `result` otherwise.
int check_errno(int result, std::string_view action, source_location where = source_location::current());

}}  // namespace mgsync::v1
