// For those that call MPI themselves (the mpi backend, the shared window): the handle, and the check of a call.
#pragma once

#include <mpi.h>

#include <string_view>

#include "src/base/communicator.hpp"
#include "src/base/source_location.hpp"

namespace mgsync {

struct communicator::native {
  MPI_Comm comm = MPI_COMM_NULL;
  bool owns_mpi = false;    // finalises MPI when destroyed
  bool owns_comm = false;   // frees the communicator when destroyed
  bool started = false;
  ~native();
};

// Throws api_error naming MPI's own error string unless `result` is MPI_SUCCESS.
void check_mpi(int result, std::string_view action, source_location where = source_location::current());

}  // namespace mgsync
