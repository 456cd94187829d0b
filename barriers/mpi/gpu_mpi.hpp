// MPI_Barrier of the ranks that own GPUs, after each has waited for its own.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_gpu_mpi(const topology::group&, const configuration&, session&);

}  // namespace mgsync
