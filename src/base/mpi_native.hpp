// For those that call MPI themselves (the mpi backend, the shared window): the handle, and the check of a
// call.
#pragma once

#include <mpi.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "src/base/communicator.hpp"
#include "src/base/source_location.hpp"
#include "src/base/watchdog.hpp"

namespace mgsync {

struct communicator::native {
  MPI_Comm comm = MPI_COMM_NULL;
  bool owns_mpi = false;    // finalises MPI when destroyed
  bool owns_comm = false;   // frees the communicator when destroyed
  watchdog* dog = nullptr;  // nullptr: a communicator without MPI
  std::chrono::nanoseconds timeout{};
  ~native();
};

// While it lives, a call into MPI that may never return is bounded by the watchdog.
class watched_call {
 public:
  watched_call(const communicator::native& where, std::string what) {
    if (where.dog != nullptr) guard_.emplace(*where.dog, std::move(what), where.timeout);
  }

 private:
  std::optional<watchdog::guard> guard_;
};

// Throws api_error naming MPI's own error string unless `result` is MPI_SUCCESS.
void check_mpi(int result, std::string_view action, source_location where = source_location::current());

}  // namespace mgsync
