// `mgsync list`: every backend and variant, and whether these ranks can run it here.
#pragma once

#include "src/harness/campaign.hpp"

namespace mgsync {

// Collective over the job, whose ranks see these machines; the first one prints.
int list_backends(const campaign_request&, const communicator& job, std::span<const topology::rank_view>);

}  // namespace mgsync
