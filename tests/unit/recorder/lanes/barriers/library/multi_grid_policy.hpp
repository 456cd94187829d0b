// What traced_policy.hpp needs of a GPU, for 32 threads that stand for the lanes of a warp: stands in place
// of the header of this name. Time passes with the polls, 100 ns each, and words change at times that the
// test plans.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "barriers/parts/algorithm/policy.hpp"

#define __device__
#define __forceinline__ inline

namespace mgsync { inline namespace v1 {

struct wait_trace;

namespace test {

// The warp, its clock, and when the word of each member shows the epoch of the round.
struct warp {
  static constexpr std::uint64_t ns_of_poll = 100;

  warp() { pthread_barrier_init(&met, nullptr, 32); }
  ~warp() { pthread_barrier_destroy(&met); }
  warp(const warp&) = delete;
  warp& operator=(const warp&) = delete;

  pthread_barrier_t met;  // that of C++ spins, and 32 threads may have two cores
  std::atomic<unsigned> votes{0};
  std::atomic<std::uint64_t> now{0};
  std::vector<std::pair<std::uint64_t, unsigned>> comes;
  std::uint32_t words[32]{};
  std::uint32_t epoch = 0;

  void come() {
    for (const auto& [when, member] : comes)
      if (now >= when) __atomic_store_n(&words[member], epoch, __ATOMIC_RELAXED);
  }
  static warp& here() {
    static warp its;
    return its;
  }
  static unsigned& lane() {
    static thread_local unsigned its = 0;
    return its;
  }
};

}  // namespace test

namespace algorithm { namespace ptx {
enum class scope { gpu, system };
inline std::uint64_t global_time_ns() { return test::warp::here().now; }
template <scope>
std::uint32_t load_relaxed(const std::uint32_t* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
template <scope>
void add_relaxed(std::uint32_t* word, std::uint32_t value) {
  __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
inline void max_relaxed_gpu(std::uint64_t* word, std::uint64_t value) {
  auto seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (seen < value &&
         !__atomic_compare_exchange_n(word, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}
}}  // namespace algorithm::ptx

struct record_of_lanes {
  wait_trace* trace;
  std::uint32_t late;
};
struct multi_grid_handle {
  unsigned gpus, rank;
  record_of_lanes* records;
};

namespace algorithm {

class policy_of_lanes {
 public:
  using word = std::uint32_t;
  static constexpr unsigned polls_per_look = 64;
  struct addresses {
    addresses() = default;
    addresses(const multi_grid_handle&, unsigned, unsigned) {}
  };

  policy_of_lanes(std::uint32_t, const multi_grid_handle& handle) : handle_(handle) {}
  static unsigned block() { return 0; }

 protected:
  static unsigned lane_number() { return test::warp::lane(); }
  static bool is_first_lane() { return lane_number() == 0; }
  volatile record_of_lanes& record() const { return handle_.records[0]; }
  word poll_system(word& w) const { return ptx::load_relaxed<ptx::scope::system>(&w); }
  bool gives_up(word) const { return false; }
  bool ends_waiting(word) const { return false; }
  void report_given_up() const {}

  const multi_grid_handle& handle_;
};

}  // namespace algorithm

}}  // namespace mgsync::v1

inline void __syncwarp() { pthread_barrier_wait(&mgsync::test::warp::here().met); }
inline unsigned __ballot_sync(unsigned, bool said) {
  auto& warp = mgsync::test::warp::here();
  if (said) warp.votes |= 1u << warp.lane();
  __syncwarp();
  const unsigned all = warp.votes;
  __syncwarp();
  if (warp.lane() == 0) {
    warp.votes = 0;
    warp.now += warp.ns_of_poll;
    warp.come();
  }
  __syncwarp();
  return all;
}
inline int __ffs(std::uint32_t bits) { return __builtin_ffs(static_cast<int>(bits)); }
