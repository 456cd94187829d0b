// The barriers of other projects on GPU members: passed by all blocks of one kernel per GPU.
#pragma once

#include "barriers/backend.hpp"

namespace mgsync {

namespace peers {
inline constexpr const char* without_multicast =
    "needs memory bound to a multicast object (NVLink SHARP), and mgsync binds none";
}

support gpu_peers_can_run(const topology::machine&, const topology::group&);

namespace gpu_peers {

make_function flags_per_block, equal_blocks, flags_unordered, flags_of_block_0, three_state, data_with_epoch,
    cas_mailbox, counter_per_peer, sum_to_zero, sign_alternating, pull, dissemination_2, dissemination_4,
    multimem;

}  // namespace gpu_peers

}  // namespace mgsync
