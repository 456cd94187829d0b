// MPI_Barrier of the ranks that own members, on host members.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

creation create_rank_barrier(const topology::group&, const configuration&, session&);

}  // namespace mgsync
