// The kinds of failure and the exit codes. "Cannot run here" is none of them: that is a value
// (barriers/backend.hpp).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

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

// Wrong use: the message names the option, the value and what is accepted. Exit 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A member did not arrive, or a rank did not answer, before the deadline. Exit 3.
class timeout_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A rank of the job is gone, or stopped for longer than the deadline: no word about what was measured.
// Exit 1.
class rank_lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A call into a library or the system failed. Exit 1.
class api_error : public std::runtime_error {
 public:
  // `action` says what was being done to which object: "recording event on GPU 3".
  api_error(std::string_view library, std::string_view error, std::string_view action,
            source_location where = source_location::current());
};

#pragma GCC visibility pop

// Throws api_error built from errno when `result` is negative; returns `result` otherwise.
int check_errno(int result, std::string_view action, source_location where = source_location::current());

}}  // namespace mgsync::v1
