// NCCL's communicators for a group of GPU members.
#pragma once

#include "src/base/nccl.hpp"
#include "src/base/session.hpp"
#include "topology/group.hpp"

namespace mgsync {

// Of this rank's members, in their order. Collective over the session's ranks.
inline const std::vector<ncclComm_t>& nccl_communicators(const topology::group& group, const session& where) {
  std::vector<nccl::place> places;
  for (const auto& m : group.members) places.push_back({m.rank, m.gpu});
  // The session's ranks are the members' ranks, in order: the first member's is not always the first.
  int speaker = 0;
  for (const auto& rank : where.ranks().all_gather(std::to_string(where.rank()), "starting NCCL")) {
    if (std::stoi(rank) == group.members.front().rank) break;
    ++speaker;
  }
  return nccl::communicators_of(places, where.rank(), [&](std::string id) {
    return where.ranks().broadcast(std::move(id), speaker, "sharing NCCL's id");
  });
}

}  // namespace mgsync
