// A pass as recorded runs have it: the same algorithm over a policy that also notes when a block speaks for
// its GPU, once the store that the other GPUs wait for has been issued. The passes that are timed and shipped
// know nothing of it. C++17.
#pragma once

#include <cstdint>

#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/device_rounds.hpp"

namespace mgsync::round_loop {

template <class Policy>
class noting_policy : public Policy {
 public:
  using word = typename Policy::word;
  using Policy::Policy;

  // The store by which every algorithm tells the other members. Of several stores in a round, the time of the
  // last remains.
  __device__ __forceinline__ void store_fenced_system(word& w, word v) const {
    Policy::store_fenced_system(w, v);
    speech& heard = heard_speech();
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    heard.clock[v % most_recorded_rounds] = now;
    heard.epoch[v % most_recorded_rounds] = v;
  }
};

// Passes without one of mgsync's policies are recorded unchanged, and without the time when they speak.
template <class Pass>
struct recorded_form {
  using type = Pass;
};
template <class Algorithm, algorithm::ptx::scope Widest, class Policy>
struct recorded_form<stateless_pass<Algorithm, Widest, Policy>> {
  using type = stateless_pass<Algorithm, Widest, noting_policy<Policy>>;
};
template <class Algorithm, class Policy>
struct recorded_form<host_flags_pass<Algorithm, Policy>> {
  using type = host_flags_pass<Algorithm, noting_policy<Policy>>;
};
template <class Policy, class Lines, class Addresses, class Shape>
struct recorded_form<shaped_pass<algorithm::relay<Policy, Lines, Addresses>, Policy, Shape>> {
  using policy = noting_policy<Policy>;
  using type = shaped_pass<algorithm::relay<policy, Lines>, policy, Shape>;
};

}  // namespace mgsync::round_loop
