// A user's barrier of GPUs: as the harness sees it, and tried in this process. Builds with CUDA.
#pragma once

#include <memory>

#include "barriers/backend.hpp"
#include "barriers/user/host_trial.hpp"

namespace mgsync::user {

// Whether the barrier fits is found out here, since it depends on the GPUs. Collective over the group's
// ranks.
creation create_on_gpus(std::shared_ptr<const barrier_file> file, const check::barrier_table& of,
                        const topology::group&, const configuration&, session&);

// Why no GPU can be used by this process; empty: one can. Starts CUDA.
std::string why_no_gpus_here();

// Members are GPUs in turn, several of them on one where there are too few: each is a kernel of its own. The
// process must be one that ends afterwards, since a kernel may still be running.
tried try_on_gpus(const check::barrier_table&, const scenario&);

}  // namespace mgsync::user
