#include "barriers/nccl_device/lsa_barrier.hpp"

#include <cooperative_groups.h>
#include <nccl.h>
#include <nccl_device.h>

#include <optional>

#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/round_loop/nccl_group.hpp"

namespace mgsync {

namespace {

using round_loop::device_run;

// The session keeps its epoch from round to round and writes it back when the kernel ends.
using lsa_session = ncclLsaBarrierSession<ncclCoopCta>;

// Block 0 meets the other GPUs between two grid barriers.
class hub_pass {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  using arguments = ncclDevComm;

  __device__ hub_pass(const arguments& communicator, const device_run&) : communicator_(communicator) {}
  __device__ bool operator()(std::uint32_t) {
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) {
      lsa_session meet{ncclCoopCta(), communicator_, ncclTeamTagLsa(), 0};
      meet.sync(ncclCoopCta(), ::cuda::memory_order_acq_rel);
    }
    cooperative_groups::this_grid().sync();
    return true;
  }

 private:
  const arguments& communicator_;
};

// After a grid barrier every block meets the blocks of its number on the other GPUs.
class per_block_pass {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  using arguments = ncclDevComm;

  __device__ per_block_pass(const arguments& communicator, const device_run&)
      : session_(ncclCoopCta(), communicator, ncclTeamTagLsa(), blockIdx.x) {}
  __device__ bool operator()(std::uint32_t) {
    cooperative_groups::this_grid().sync();
    session_.sync(ncclCoopCta(), ::cuda::memory_order_acq_rel);
    return true;
  }

 private:
  lsa_session session_;
};

// Device communicators, one per local GPU, for as many blocks; given back with the barrier.
class device_communicators {
 public:
  device_communicators(const round_loop::flag_barrier_request& w, int barriers)
      : host_(nccl_communicators(w.group, w.where)), gpus_(w.gpus) {
    ncclDevCommRequirements needs{};
    needs.lsaBarrierCount = barriers;
    made_.resize(host_.size());
    nccl::check(ncclGroupStart(), "beginning to create device communicators");
    for (std::size_t l = 0; l < host_.size(); ++l) {
      const cuda::device_scope scope(gpus_[l].ordinal);
      nccl::check(ncclDevCommCreate(host_[l], &needs, &made_[l]), "creating a device communicator");
    }
    nccl::check(ncclGroupEnd(), "creating device communicators");
  }
  ~device_communicators() {
    for (std::size_t l = 0; l < host_.size(); ++l) {
      cudaSetDevice(gpus_[l].ordinal);
      ncclDevCommDestroy(host_[l], &made_[l]);
    }
  }
  device_communicators(const device_communicators&) = delete;
  device_communicators& operator=(const device_communicators&) = delete;

  const std::vector<ncclDevComm>& local() const { return made_; }

 private:
  const std::vector<ncclComm_t>& host_;
  std::vector<round_loop::gpu_member> gpus_;
  std::vector<ncclDevComm> made_;
};

template <class Pass>
creation make(const round_loop::flag_barrier_request& w, const char* name, int barriers) {
  const round_loop::round_kernels kernels{reinterpret_cast<const void*>(round_loop::timed_rounds<Pass>),
                                          reinterpret_cast<const void*>(round_loop::checked_rounds<Pass>)};
  if (auto reason = round_loop::why_no_room(w, kernels); !reason.empty()) return {nullptr, reason, {}, {}};
  auto communicators = std::make_shared<device_communicators>(w, barriers);
  round_loop::kernel_barrier_parts parts;
  std::string apart;
  for (const auto& c : communicators->local()) {
    if (c.lsaSize != static_cast<int>(w.members())) apart = "NCCL does not find all these GPUs directly addressable";
    parts.arguments.push_back(round_loop::bytes_of(c));
  }
  if (apart = first_complaint(w.where, apart); !apart.empty()) return {nullptr, apart, {}, {}};
  parts.what = std::string("nccl-device (") + name + ")";
  parts.algorithm = std::string(name) + ", NCCL " + nccl::version_text(nccl::version());
  parts.kernels = kernels;
  parts.bounded = false;
  parts.keep = communicators;
  return round_loop::make_kernel_barrier(w, std::move(parts));
}

}  // namespace

support nccl_device_is_built() { return support::yes(); }

creation create_nccl_device(const topology::group& group, const configuration& asked, session& where) {
  if (auto reason = round_loop::why_not_spin(group, where); !reason.empty()) return {nullptr, reason, {}, {}};
  // What its kernels read is laid out anew from version to version.
  if (nccl::version() != NCCL_VERSION_CODE)
    return {nullptr, "built with NCCL " + nccl::version_text(NCCL_VERSION_CODE) + " and run with " +
                         nccl::version_text(nccl::version()) + ": its device API needs the very same", {}, {}};
  const auto w = round_loop::request_of(group, asked, where, "nccl-device");
  if (asked.variant == "per-block") return make<per_block_pass>(w, "per-block", static_cast<int>(w.blocks));
  return make<hub_pass>(w, "hub", 1);
}

}  // namespace mgsync
