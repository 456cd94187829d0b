// `mgsync list`: every backend and variant, and whether these ranks can run it here.
#pragma once

#include "src/harness/campaign.hpp"

namespace mgsync {

// Collective over the job; rank 0 prints. The views are those of all ranks.
int list_backends(const campaign_request&, const communicator& job, std::span<const topology::rank_view>);

}  // namespace mgsync
