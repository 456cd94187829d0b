// MPI_Barrier of the ranks that own members, on host members.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

make_function create_rank_barrier;

}  // namespace mgsync
