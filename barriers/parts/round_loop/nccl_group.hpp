// NCCL's communicators for a group of GPU members.
#pragma once

#include <algorithm>

#include "src/base/nccl.hpp"
#include "src/base/session.hpp"
#include "topology/group.hpp"

namespace mgsync {

// The communicators of this rank's members, in their order. Collective over the session's ranks.
inline const std::vector<ncclComm_t>& nccl_communicators(const topology::group& group, const session& where) {
  std::vector<nccl::process_gpu> places;
  for (const auto& m : group.members) places.push_back({m.rank, m.gpu});
  // The first member's rank is not always the first.
  const auto owners = topology::owners_of(group);
  const auto speaker =
      static_cast<int>(std::ranges::lower_bound(owners, group.members.front().rank) - owners.begin());
  return nccl::communicators_of(places, where.rank(), [&](std::string id) {
    return where.ranks().broadcast(std::move(id), speaker, "sharing NCCL's id");
  });
}

}  // namespace mgsync
