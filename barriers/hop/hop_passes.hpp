// What one round of each of the hop's forms does on GPUs. C++17.
#pragma once

#include "barriers/parts/round_loop/cuda_passes.hpp"

namespace mgsync::hop {

using algorithm::cuda_lines;
using algorithm::ptx::scope;
using round_loop::device_run;
namespace ptx = algorithm::ptx;

// Lines of a member's part: the flag that its peer writes, and what is stored to it before a fence or a
// release.
inline constexpr unsigned flag_line = 0, payload_line = 1, payload_words = 256;
inline constexpr unsigned words_per_line = algorithm::line_bytes / sizeof(std::uint32_t);

class hop_speaker {
 public:
  __device__ hop_speaker(const cuda_lines& lines, const device_run& run)
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
class hop_pass : hop_speaker {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ hop_pass(const arguments& lines, const device_run& run) : hop_speaker(lines, run) {}
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
class fence_pass : hop_speaker {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ fence_pass(const arguments& lines, const device_run& run) : hop_speaker(lines, run) {}
  __device__ bool operator()(std::uint32_t epoch) {
    if (!leads_) return true;
    store_to_peer(epoch);
    ptx::fence_acq_rel<Scope>();
    return true;
  }
};

// What a block of a barrier does first, here after a store to the peer: a release at GPU scope, and an atomic
// addition whose result it waits for.
class arrival_pass : hop_speaker {
 public:
  static constexpr bool bounded = true;
  static constexpr bool carries_sum = false;
  using arguments = cuda_lines;

  __device__ arrival_pass(const cuda_lines& lines, const device_run& run) : hop_speaker(lines, run) {}
  __device__ bool operator()(std::uint32_t epoch) {
    if (!leads_) return true;
    store_to_peer(epoch);
    ptx::fence_release<scope::gpu>();
    const std::uint32_t before = ptx::fetch_add_relaxed<scope::gpu>(mine_, 1);
    asm volatile("" ::"r"(before) : "memory");
    return true;
  }
};

}  // namespace mgsync::hop
