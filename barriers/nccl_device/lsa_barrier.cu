#include "barriers/nccl_device/lsa_barrier.hpp"

#include <cooperative_groups.h>
#include <nccl.h>
#include <nccl_device.h>

#include <memory>
#include <string>

#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/round_loop/nccl_group.hpp"

namespace mgsync {

namespace {

using round_loop::device_run;

// What every kernel takes. The communicator has more barriers than blocks, so that successive objects' flags
// lie at different places, as those of mgsync's own barriers do.
struct lsa_barriers {
  ncclDevComm communicator;
  std::uint32_t first;  // of block 0
};

// NCCL's barrier of block `blockIdx.x` of every GPU. Made once a launch: it keeps its epoch from round to
// round, and writes it back when the kernel ends. So every block has one of its own, whether it meets anybody
// or not.
using lsa_session = ncclLsaBarrierSession<ncclCoopCta>;

__device__ void meet(lsa_session& session) { session.sync(ncclCoopCta(), ::cuda::memory_order_acq_rel); }

// One block per GPU: NCCL's barrier is all that is needed.
class alone_pass {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  using arguments = lsa_barriers;

  __device__ alone_pass(const arguments& given, const device_run&)
      : session_(ncclCoopCta(), given.communicator, ncclTeamTagLsa(), given.first) {}
  __device__ bool operator()(std::uint32_t) {
    meet(session_);
    return true;
  }

 private:
  lsa_session session_;
};

// Block 0 meets the other GPUs between two grid barriers.
class hub_pass : public round_loop::has_grid_sync {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  using arguments = lsa_barriers;

  __device__ hub_pass(const arguments& given, const device_run&)
      : grid_(cooperative_groups::this_grid()),
        session_(ncclCoopCta(), given.communicator, ncclTeamTagLsa(), given.first + blockIdx.x) {}
  __device__ bool operator()(std::uint32_t) {
    grid_.sync();
    if (blockIdx.x == 0) meet(session_);
    grid_.sync();
    return true;
  }

 private:
  cooperative_groups::grid_group grid_;
  lsa_session session_;
};

// After a grid barrier every block meets the blocks of its number on the other GPUs.
class per_block_pass : public round_loop::has_grid_sync {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  using arguments = lsa_barriers;

  __device__ per_block_pass(const arguments& given, const device_run&)
      : grid_(cooperative_groups::this_grid()),
        session_(ncclCoopCta(), given.communicator, ncclTeamTagLsa(), given.first + blockIdx.x) {}
  __device__ bool operator()(std::uint32_t) {
    grid_.sync();
    meet(session_);
    return true;
  }

 private:
  cooperative_groups::grid_group grid_;
  lsa_session session_;
};

// The best that NCCL's user could put around the meeting of block 0 instead: half a grid barrier before it
// (arrivals at spread counters, which block 0 adds up) and half after it (a release, polled in replicas), as
// mgsync's relay has them.
class relay_pass {
 public:
  static constexpr bool bounded = false;
  static constexpr bool carries_sum = false;
  struct arguments {
    lsa_barriers nccl;
    algorithm::cuda_lines lines;
    algorithm::relay_shape shape;
  };

  __device__ relay_pass(const arguments& given, const device_run& run)
      : policy_(round_loop::limits_of(run)),
        blocks_(run.blocks),
        session_(ncclCoopCta(), given.nccl.communicator, ncclTeamTagLsa(), given.nccl.first + blockIdx.x) {
    const algorithm::relay_layout lines{};
    const auto word = [&](unsigned line) { return &given.lines.word(run.member, line, 0); };
    const unsigned lane = policy_.lane();
    arrival_ = word(lines.counter(blockIdx.x % given.shape.counters));
    sum_ = lane < given.shape.counters ? word(lines.counter(lane)) : nullptr;
    release_ = lane < given.shape.replicas ? word(lines.inbox(lane)) : nullptr;
    leave_ = word(lines.inbox(blockIdx.x % given.shape.replicas));
  }
  __device__ bool operator()(std::uint32_t epoch) {
    policy_.sync();
    if (policy_.in_team() && policy_.leader()) policy_.add_release_local(*arrival_, 1);
    if (blockIdx.x == 0) return speak(epoch);
    unsigned ok = 1;
    if (policy_.in_team()) {
      ok = policy_.wait_until(
          epoch, [&] { return policy_.all(algorithm::reached(policy_.poll_local(*leave_), epoch)); });
      policy_.fence_polled_local();
    }
    return policy_.sync_and(ok) != 0;
  }

 private:
  // Called by all threads of block 0.
  __device__ bool speak(std::uint32_t epoch) {
    unsigned ok = 1;
    if (policy_.in_team()) {
      ok = policy_.wait_until(epoch, [&] {
        return policy_.sum(sum_ == nullptr ? 0 : policy_.poll_local(*sum_)) == blocks_ * epoch;
      });
      policy_.fence_polled_local();
    }
    if (policy_.sync_and(ok) == 0) return false;
    meet(session_);
    if (policy_.in_team()) {
      policy_.fence_release_local();
      if (release_ != nullptr) policy_.store_relaxed_local(*release_, epoch);
    }
    return true;
  }

  algorithm::cuda_policy<algorithm::ptx::scope::system> policy_;
  unsigned blocks_;
  lsa_session session_;
  std::uint32_t* arrival_;
  std::uint32_t* sum_;
  std::uint32_t* release_;
  std::uint32_t* leave_;
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
  std::vector<gpu_team::gpu_member> gpus_;
  std::vector<ncclDevComm> made_;
};

// Why NCCL has no such barrier over these GPUs; empty if it has. Must be asked before a device communicator
// is created: over several of NCCL's nodes that fails where the network between them has no GIN
// (GPU-initiated networking), even if it is not needed. NCCL's nodes need not be the members' hosts: it takes
// containers with host names of their own, or processes with another NCCL_HOSTID, for several.
std::string why_not_addressable(const round_loop::flag_barrier_request& w) {
  const auto& host = nccl_communicators(w.group, w.where);
  std::string mine;
  for (std::size_t l = 0; l < host.size(); ++l) {
    const cuda::device_scope scope(w.gpus[l].ordinal);
    if (const int together = ncclTeamLsa(host[l]).nRanks; together != static_cast<int>(w.members()))
      mine = "NCCL lets " + std::to_string(together) + " of these " + std::to_string(w.members()) +
             " GPUs address one another's memory, and this barrier needs all: it counts them to several "
             "nodes, or they have "
             "no path";
  }
  return first_complaint(w.where, mine);
}

// How results name it: the variant, and what it consists of where blocks meet inside the GPUs too.
struct form {
  const char *variant, *parts;
};

std::string label(const form& asked, unsigned blocks) {
  return std::string(asked.variant) + ": " + (blocks > 1 ? asked.parts : "LSA barrier of the one block") +
         ", NCCL " + nccl::version_text(nccl::version());
}

// `arguments(communicator, local)` returns the arguments of the kernels on one local GPU.
template <class Pass, class F>
creation make(const round_loop::flag_barrier_request& w, const form& asked,
              std::unique_ptr<group_memory> flags, F arguments) {
  const gpu_team::round_kernels kernels{round_loop::timed_kernel<Pass>(),
                                        reinterpret_cast<const void*>(round_loop::checked_rounds<Pass>)};
  if (auto reason = round_loop::why_no_room(w, kernels); !reason.empty()) return {nullptr, reason, {}, {}};
  // The same in every process: they create and destroy barriers together.
  constexpr std::uint32_t places = 1024;
  static std::uint32_t objects = 0;
  const std::uint32_t first = static_cast<std::uint32_t>(std::uint64_t{++objects} * 0x9e3779b9u % places);
  if (auto reason = why_not_addressable(w); !reason.empty()) return {nullptr, reason, {}, {}};
  auto communicators = std::make_shared<device_communicators>(w, static_cast<int>(w.blocks + places));
  round_loop::kernel_barrier_parts parts;
  for (unsigned l = 0; l < communicators->local().size(); ++l) {
    const auto& c = communicators->local()[l];
    parts.arguments.push_back(
        round_loop::bytes_of<typename Pass::arguments>(arguments(lsa_barriers{c, first}, l)));
  }
  parts.what = std::string("nccl-device (") + asked.variant + ")";
  parts.algorithm = label(asked, w.blocks);
  parts.kernels = kernels;
  parts.bounded = false;
  parts.flags = std::move(flags);
  parts.keep = communicators;
  return round_loop::make_kernel_barrier(w, std::move(parts));
}

template <class Pass>
creation make_plain(const round_loop::flag_barrier_request& w, const form& asked) {
  return make<Pass>(w, asked, nullptr, [](const lsa_barriers& c, unsigned) { return c; });
}

creation make_relay(const round_loop::flag_barrier_request& w, const form& asked) {
  auto made = round_loop::allocate_flags(w.group, round_loop::relay_image(w.blocks), w.peer_memory, w.where);
  if (!made.memory) return {nullptr, made.reason, {}, {}};
  const unsigned spread = w.blocks > 10 * w.sms ? 32 : 8;
  auto* const flags = made.memory.get();
  return make<relay_pass>(w, asked, std::move(made.memory), [&](const lsa_barriers& c, unsigned l) {
    relay_pass::arguments given{c, {}, {spread, spread}};
    for (unsigned m = 0; m < w.members(); ++m)
      given.lines.parts[m] = reinterpret_cast<std::uint32_t*>(flags->part(m, l));
    return given;
  });
}

// `make_it` makes the form that joins several blocks of a GPU; with one block per GPU all forms are the same.
using form_function = creation(const round_loop::flag_barrier_request&, const form&);
creation make(const topology::group& group, const configuration& wanted, session& where, const form& asked,
              form_function* make_it) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  // The layout of what its kernels read changes from version to version.
  if (nccl::version() != NCCL_VERSION_CODE)
    return creation::none("built with NCCL " + nccl::version_text(NCCL_VERSION_CODE) + " and run with " +
                          nccl::version_text(nccl::version()) + ": its device API needs the very same");
  const auto w = round_loop::request_of(group, wanted, where, "nccl-device");
  return w.blocks == 1 ? make_plain<alone_pass>(w, asked) : make_it(w, asked);
}

}  // namespace

namespace gpu_nccl_device {

creation hub(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, {"hub", "grid.sync, LSA barrier of block 0, grid.sync"},
              make_plain<hub_pass>);
}

creation per_block(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, {"per-block", "grid.sync, LSA barrier of every block"},
              make_plain<per_block_pass>);
}

creation hub_relay(const topology::group& group, const configuration& wanted, session& where) {
  return make(group, wanted, where, {"hub-relay", "arrivals at counters, LSA barrier of block 0, a release"},
              make_relay);
}

}  // namespace gpu_nccl_device

}  // namespace mgsync
