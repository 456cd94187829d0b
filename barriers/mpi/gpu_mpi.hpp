// MPI_Barrier of the ranks that own GPUs, after each has waited for its own.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

make_function create_gpu_mpi;

}  // namespace mgsync
