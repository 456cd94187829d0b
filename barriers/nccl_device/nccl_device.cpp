// NCCL's device-side barrier over directly addressable memory (LSA), made a barrier of whole grids.
#include "barriers/nccl_device/lsa_barrier.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"hub", "per-block"};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (group.device != topology::device::gpu) return support::no("for GPU members");
  if (wanted.load != load::idle) return support::no("load is made beside mgsync's own in-kernel barriers only");
  if (group.members.size() < 2) return support::no("one GPU has no peer to meet");
  for (const auto& m : group.members)
    if (m.rank != group.members.front().rank)
      return support::no("these GPUs belong to several ranks; this variant starts NCCL inside one process");
  return nccl_device_is_built();
}

}  // namespace

extern const backend nccl_device_backend;
const backend nccl_device_backend{"nccl-device", "NCCL's device-side (LSA) barrier inside a grid barrier", variants,
                                  level::group, false, can_run, create_nccl_device};

}  // namespace mgsync
