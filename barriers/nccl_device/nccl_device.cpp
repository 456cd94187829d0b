// NCCL's device-side barrier over directly addressable memory (LSA), made a barrier of whole grids.
#include "barriers/nccl_device/lsa_barrier.hpp"

namespace mgsync {

namespace {

constexpr const char* without_device_api = "needs NCCL 2.28 or later with its device API when built";
constexpr std::string_view variants[] = {"hub", "per-block", "hub-relay"};
constexpr std::string_view header = "#include <nccl_device.h>, NCCL 2.28 or later, a cooperative launch";
constexpr user_call calls[] = {
    {"hub", "NCCL",
     "ncclLsaBarrierSession::sync() in block 0, between two cooperative_groups::this_grid().sync()", header,
     topology::device::gpu, 2},
    {"per-block", "NCCL",
     "ncclLsaBarrierSession::sync() in every block, behind cooperative_groups::this_grid().sync()", header,
     topology::device::gpu, 2}};

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  if (group.device != topology::device::gpu) return support::never("for GPU members");
  if (group.members.size() < 2) return support::never("one GPU has no peer to meet");
  if (topology::hosts_of(group).size() > 1)
    return support::no(
        "needs memory that all GPUs address, and they are on several hosts (--per-node measures each)");
  return MGSYNC_WITH_NCCL_DEVICE ? support::yes() : support::no(without_device_api);
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_NCCL_DEVICE) return create_nccl_device(group, wanted, where);
  else return creation::none(without_device_api);
}

}  // namespace

extern const backend nccl_device_backend;
const backend nccl_device_backend{
    "nccl-device", "NCCL's device-side (LSA) barrier, with what makes it one of whole grids",
    variants,      level::group,
    false,         can_run,
    create,        false,
    calls};

}  // namespace mgsync
