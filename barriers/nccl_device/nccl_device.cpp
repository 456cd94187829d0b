// NCCL's device-side barrier over directly addressable memory (LSA), made a barrier of whole grids.
#include "barriers/nccl_device/lsa_barrier.hpp"

namespace mgsync {

namespace {

constexpr const char* without_device_api = "needs NCCL 2.28 or later with its device API when built";
constexpr facts of_nccl{.origin = fact::origin::nccl,
                        .driver = fact::driver::device,
                        .scope = fact::scope::node,
                        .extent = fact::extent::everything,
                        .order = fact::order::both};
constexpr std::string_view header = "#include <nccl_device.h>, NCCL 2.28 or later, a cooperative launch";

constexpr barrier_variant variants[] = {
    {.name = "hub",
     .summary = "block 0 meets the other GPUs between two of grid.sync",
     .facts = of_nccl,
     .make = makers::of_gpus(built<MGSYNC_WITH_NCCL_DEVICE, gpu_nccl_device::hub, without_device_api>),
     .call =
         {.maker = "NCCL",
          .call =
              "ncclLsaBarrierSession::sync() in block 0, between two cooperative_groups::this_grid().sync()",
          .needs = header,
          .least_members = 2}},
    {.name = "per-block",
     .summary = "behind grid.sync every block meets those of its number on the other GPUs",
     .facts = of_nccl,
     .make = makers::of_gpus(built<MGSYNC_WITH_NCCL_DEVICE, gpu_nccl_device::per_block, without_device_api>),
     .call =
         {.maker = "NCCL",
          .call =
              "ncclLsaBarrierSession::sync() in every block, behind cooperative_groups::this_grid().sync()",
          .needs = header,
          .least_members = 2}},
    {.name = "hub-relay",
     .summary = "the hub with the halves of mgsync's relay around it",
     .facts = of_nccl,
     .make =
         makers::of_gpus(built<MGSYNC_WITH_NCCL_DEVICE, gpu_nccl_device::hub_relay, without_device_api>)}};

support can_run(const topology::machine&, const topology::group& group, const configuration&) {
  if (group.members.size() < 2) return support::never("one GPU has no peer to meet");
  if (topology::hosts_of(group).size() > 1)
    return support::no(
        "needs memory that all GPUs address, and they are on several hosts (--per-node measures each)");
  return MGSYNC_WITH_NCCL_DEVICE ? support::yes() : support::no(without_device_api);
}

}  // namespace

extern const backend nccl_device_backend;
const backend nccl_device_backend{
    .name = "nccl-device",
    .summary = "NCCL's device-side (LSA) barrier, with what makes it one of whole grids",
    .variants = variants,
    .can_run = can_run};

}  // namespace mgsync
