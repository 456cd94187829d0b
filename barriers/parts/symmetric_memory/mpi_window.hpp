// Symmetric memory of ranks: one MPI shared window per host. Of builds with MPI.
#pragma once

#include "barriers/parts/symmetric_memory/symmetric_memory.hpp"

namespace mgsync {

// Collective over the session's ranks. Parts of members on other hosts stay nullptr.
allocation allocate_mpi_window(const topology::group& group, std::size_t bytes, const session&);

}  // namespace mgsync
