// The kinds of failure and the exit codes. "Cannot run here" is none of them: that is a value
// (barriers/backend.hpp).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/source_location.hpp"

namespace mgsync { inline namespace v1 {

// What the process tells its caller. interrupted is 128 + the signal's number.
enum class exit_code : int {
  success = 0,         // measured, and every barrier passed its check
  failure = 1,         // a library call or the program failed, or a rank was lost
  usage = 2,           // wrong option, value or input file
  barrier_failed = 3,  // a barrier was violated or a member did not arrive in time
  all_waived = 4,      // nothing could be measured here
  gate_shut = 5,       // a comparison found what its gate does not let through
};

#pragma GCC visibility push(default)  // what a shared library of mgsync throws

// What all of them are.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Wrong use: the message names the option, the value and what is accepted. Exit 2.
class usage_error : public error {
 public:
  using error::error;
};

// A grid of which not all came to a barrier: its rank in the group, and the blocks that did not.
struct absent_grid {
  unsigned grid_rank = 0;
  std::vector<unsigned> blocks{};  // empty: of a GPU of another process, whose blocks nobody here sees
};

// A member did not arrive, or a rank did not answer, before the deadline. Exit 3.
class timeout_error : public error {
 public:
  explicit timeout_error(const std::string& what, std::vector<absent_grid> who = {})
      : error(what), who_(std::move(who)) {}
  // Who did not arrive at a barrier of the library's; empty where nobody knows, or it was no such barrier.
  const std::vector<absent_grid>& who() const noexcept { return who_; }

 private:
  std::vector<absent_grid> who_;
};

// A rank of the job is gone, or stopped for longer than the deadline: no word about what was measured.
// Exit 1.
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
  // A cudaError_t of "CUDA", a CUresult of "CUDA driver", an errno of "system".
  int code() const noexcept { return code_; }

 private:
  int code_;
};

#pragma GCC visibility pop

// Throws api_error built from errno when `result` is negative; returns `result` otherwise.
int check_errno(int result, std::string_view action, source_location where = source_location::current());

}}  // namespace mgsync::v1
