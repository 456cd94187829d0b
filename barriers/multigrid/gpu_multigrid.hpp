// The multigrid barrier on GPU members: passed by all blocks of one kernel per GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

namespace round_loop {
struct flag_barrier_request;
}

support gpu_multigrid_can_run(const topology::machine&, const topology::group&);
support gpu_multigrid_vendor_can_run(const topology::group&);

namespace gpu_multigrid {

make_function automatic, inbox, hub, relay, dissemination, central, crowd, host_flags, library, library_split,
    library_traced, library_one_warp, library_reduce, library_none, library_acquire, library_release,
    library_mixed_none, library_mixed_one, library_mixed_all, vendor;

// What `make_it` makes of the request, or why these GPUs cannot wait for each other.
creation make(const topology::group&, const configuration&, session&,
              creation (*make_it)(const round_loop::flag_barrier_request&));

}  // namespace gpu_multigrid

}  // namespace mgsync
