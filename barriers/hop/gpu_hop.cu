#include "barriers/hop/gpu_hop.hpp"

#include "barriers/parts/algorithm/flag_image.hpp"
#include "barriers/parts/algorithm/grid_choice.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/flag_barrier.hpp"
#include "barriers/parts/symmetric_memory/group_memory.hpp"

namespace mgsync {

namespace {

using algorithm::cuda_lines;
using algorithm::ptx::scope;
using round_loop::device_run;
namespace ptx = algorithm::ptx;

// Lines of a member's part: the flag that its peer writes, and what is stored to it before a fence or a
// release.
constexpr unsigned flag_line = 0, payload_line = 1, payload_words = 256;
constexpr unsigned words_per_line = algorithm::line_bytes / sizeof(std::uint32_t);

class speaker {
 public:
  __device__ speaker(const cuda_lines& lines, const device_run& run)
      : policy_(round_loop::limits_of(run)),
        member_(run.member & 1),
        speaks_(blockIdx.x == 0 && threadIdx.x < 32),
        leads_(blockIdx.x == 0 && threadIdx.x == 0),
        mine_(&lines.line(run.member, flag_line)),
        theirs_(&lines.line((run.member + 1) % run.members, flag_line)),
        payload_(&lines.line((run.member + 1) % run.members, payload_line)) {}

 protected:
  // An ordinary store to the peer, which the release or the fence after it has to wait for.
  __device__ void store_to_peer(std::uint32_t epoch) const {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(payload_ + epoch % payload_words), "r"(epoch) : "memory");
  }

  algorithm::cuda_policy<scope::system> policy_;
  unsigned member_;
  bool speaks_, leads_;
  std::uint32_t* mine_;
  std::uint32_t* theirs_;
  std::uint32_t* payload_;
};

// The members send in turn: in a round one sends and goes on, the other waits for it.
template <bool Ordered>
class hop_pass : speaker {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ hop_pass(const arguments& lines, const device_run& run) : speaker(lines, run) {}
  __device__ bool operator()(std::uint32_t epoch) {
    if (!speaks_) return true;
    if ((epoch & 1) == member_) {
      if (leads_) send(epoch);
      __syncwarp();
      return true;
    }
    const bool ok = policy_.wait_until(epoch, [&] {
      return policy_.all(algorithm::reached(policy_.poll_system(*mine_), epoch));
    }) != 0;
    if constexpr (Ordered) policy_.fence_polled_system();
    return ok;
  }

 private:
  __device__ void send(std::uint32_t epoch) const {
    if constexpr (Ordered) {
      store_to_peer(epoch);
      ptx::fence_release<scope::system>();
    }
    ptx::store_relaxed<scope::system>(theirs_, epoch);
  }
};

template <scope Scope>
class fence_pass : speaker {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ fence_pass(const arguments& lines, const device_run& run) : speaker(lines, run) {}
  __device__ bool operator()(std::uint32_t epoch) {
    if (!leads_) return true;
    store_to_peer(epoch);
    ptx::fence_acq_rel<Scope>();
    return true;
  }
};

// What a block of a barrier does first, here after a store to the peer: a release at GPU scope, and an atomic
// addition whose result it waits for.
class arrival_pass : speaker {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ arrival_pass(const cuda_lines& lines, const device_run& run) : speaker(lines, run) {}
  __device__ bool operator()(std::uint32_t epoch) {
    if (!leads_) return true;
    store_to_peer(epoch);
    ptx::fence_release<scope::gpu>();
    const std::uint32_t before = ptx::fetch_add_relaxed<scope::gpu>(mine_, 1);
    asm volatile("" ::"r"(before) : "memory");
    return true;
  }
};

// All blocks of every GPU meet those of their own GPU, and nobody else's.
creation make_grid(const topology::group& group, const configuration& wanted, session& where) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const auto w = round_loop::request_of(group, wanted, where, "hop");
  using pass = round_loop::spread_counter_pass;
  const auto choice = algorithm::choose_grid(w.blocks, w.sms);
  if (!choice.counter) return creation::none("up to 10 blocks per SM: more take the relay");
  return round_loop::make_flag_barrier<pass>(w, "grid: each GPU by itself, " + choice.why,
                                             algorithm::spread_image(w.blocks, choice.spread),
                                             [&](const cuda_lines& lines) {
                                               return pass::arguments{lines, choice.spread};
                                             });
}

template <class Pass>
creation make(const topology::group& group, const configuration& wanted, session& where, std::string what) {
  if (auto reason = gpu_team::why_not_spin(group, where); !reason.empty()) return creation::none(reason);
  const round_loop::flag_image image(words_per_line * payload_line + payload_words,
                                     round_loop::first_gpu_epoch);
  return round_loop::make_flag_barrier<Pass>(round_loop::request_of(group, wanted, where, "hop"),
                                             std::move(what), image, [](const cuda_lines& l) { return l; });
}

}  // namespace

support gpu_hop_can_run(const topology::machine& machine, const topology::group& group) {
  if (auto reason = why_no_peer_access(machine, group); !reason.empty()) return support::no(reason);
  return support::yes();
}

namespace gpu_hop {

creation release_acquire(const topology::group& group, const configuration& wanted, session& where) {
  return make<hop_pass<true>>(group, wanted, where,
                              "release-acquire: a store to the peer, a release, a flag, an acquire");
}

creation relaxed(const topology::group& group, const configuration& wanted, session& where) {
  return make<hop_pass<false>>(group, wanted, where, "relaxed: one flag, no order");
}

creation fence_system(const topology::group& group, const configuration& wanted, session& where) {
  return make<fence_pass<scope::system>>(group, wanted, where, "fence-system: after a store to a peer");
}

creation fence_gpu(const topology::group& group, const configuration& wanted, session& where) {
  return make<fence_pass<scope::gpu>>(group, wanted, where, "fence-gpu: after a store to a peer");
}

creation arrival(const topology::group& group, const configuration& wanted, session& where) {
  return make<arrival_pass>(group, wanted, where,
                            "arrival: a store to a peer, a release to the own GPU, an addition that answers");
}

creation grid(const topology::group& group, const configuration& wanted, session& where) {
  return make_grid(group, wanted, where);
}

}  // namespace gpu_hop

}  // namespace mgsync
