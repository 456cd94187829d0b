// The algorithms' policy over host threads with one ordering weakened, chosen at run time. Without fences,
// which ThreadSanitizer does not follow: what a fence orders is a release store or an acquire load here.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "barriers/parts/algorithm/host_policy.hpp"
#include "tests/race/orders.hpp"

namespace mgsync::race {

class thread_policy {
 public:
  using word = std::uint32_t;
  using pair = std::uint64_t;
  static constexpr unsigned lanes = 1;

  explicit thread_policy(weakness weakened) : weakened_(weakened) {}

  word load_acquire_local(word& w) const { return ref(w).load(std::memory_order_acquire); }
  word load_acquire_system(word& w) const { return load(w, weakness::system_wait); }
  word load_relaxed_system(word& w) const { return load_relaxed_local(w); }
  pair load_pair_relaxed_system(pair& w) const { return ref(w).load(std::memory_order_relaxed); }
  bool swap_fenced_system(word& w, word from, word to) const {
    return ref(w).compare_exchange_strong(from, to, order(weakness::system_store, std::memory_order_release),
                                          std::memory_order_relaxed);
  }
  bool swap_acquire_system(word& w, word from, word to) const {
    return ref(w).compare_exchange_strong(from, to, order(weakness::system_wait, std::memory_order_acquire),
                                          std::memory_order_relaxed);
  }
  word load_relaxed_local(word& w) const { return ref(w).load(std::memory_order_relaxed); }
  void store_relaxed_local(word& w, word v) const { ref(w).store(v, std::memory_order_relaxed); }
  void add_relaxed_local(word& w, word v) const {
    ref(w).fetch_add(v, fenced_ ? std::memory_order_release : std::memory_order_relaxed);
  }
  void store_release_local(word& w, word v) const { store(w, v, weakness::local_release); }
  word add_acq_rel_local(word& w, word v) const { return add(w, v, weakness::local_arrival); }
  word add_acq_rel_system(word& w, word v) const { return add(w, v, weakness::system_add); }
  void add_release_local(word& w, word v) const { add(w, v, weakness::local_arrival); }
  word fetch_add_release_local(word& w, word v) const { return add(w, v, weakness::local_arrival); }
  void fence_release_local() { fenced_ = weakened_ != weakness::local_arrival; }
  void fence_release_system() const {}
  void store_fenced_system(word& w, word v) const { store(w, v, weakness::system_store); }
  void add_fenced_system(word& w, word v) const { add(w, v, weakness::system_store); }
  void store_pair_release_local(pair& w, pair v) const { store(w, v, weakness::local_release); }
  void store_pair_fenced_system(pair& w, pair v) const { store(w, v, weakness::system_store); }
  word poll_local(word& w) const { return load(w, weakness::local_wait); }
  pair poll_pair_system(pair& w) const { return load(w, weakness::system_wait); }
  void fence_polled_local() const {}
  void fence_polled_system() const {}

  void sync() const {}
  bool sync_and(bool ok) const { return ok; }
  bool in_team() const { return true; }
  static unsigned kept(unsigned value) { return value; }
  unsigned lane() const { return 0; }
  bool leader() const { return true; }
  template <class T>
  T broadcast(T v) const {
    return v;
  }
  bool all(bool ok) const { return ok; }
  void sync_team() const {}
  bool any(bool yes) const { return yes; }
  word sum(word v) const { return v; }
  template <class V, class Op>
  V combined(V v, unsigned, Op) const {
    return v;
  }
  void hold(unsigned) const {}
  template <class F>
  void for_each(unsigned n, F f) const {
    for (unsigned i = 0; i < n; ++i) f(i);
  }

  bool wait_local(word& w, word epoch) const {
    return wait_until(epoch, [&] { return algorithm::reached(load(w, weakness::local_wait), epoch); });
  }
  bool wait_system(word& w, word epoch) const {
    return wait_until(epoch, [&] { return algorithm::reached(load(w, weakness::system_wait), epoch); });
  }
  bool wait_pair_local(pair& w, word epoch, pair& seen) const {
    return wait_until(epoch, [&] { return reached_pair(seen = load(w, weakness::local_wait), epoch); });
  }
  bool wait_pair_system(pair& w, word epoch, pair& seen) const {
    return wait_until(epoch, [&] { return reached_pair(seen = load(w, weakness::system_wait), epoch); });
  }
  template <algorithm::polling Loop, unsigned N, class Words>
  bool wait_words(word epoch, Words words) const {
    constexpr auto weak = Loop == algorithm::polling::inbox ? weakness::system_wait : weakness::local_wait;
    return wait_until(epoch, [&] {
      for (unsigned i = 0; i < N; ++i)
        if (const auto w = words(i);
            w.address != nullptr && !algorithm::reached(load(*w.address, weak), w.target))
          return false;
      return true;
    });
  }
  template <class Condition>
  bool wait_lane(Condition holds) const {
    return wait_until(0, holds);
  }
  template <algorithm::polling = algorithm::polling::quiet, class Here>
  bool wait_each(word epoch, Here here) const {
    return wait_until(epoch, here);
  }
  // Unbounded: ctest's own limit ends a test that hangs.
  template <class Condition>
  bool wait_until(word, Condition holds) const {
    while (!holds()) sched_yield();
    return true;
  }

 private:
  template <class T>
  static std::atomic_ref<T> ref(T& w) {
    return std::atomic_ref<T>(w);
  }
  std::memory_order order(weakness which, std::memory_order full) const {
    return weakened_ == which ? std::memory_order_relaxed : full;
  }
  template <class T>
  void store(T& w, T v, weakness which) const {
    ref(w).store(v, order(which, std::memory_order_release));
  }
  template <class T>
  T load(T& w, weakness which) const {
    return ref(w).load(order(which, std::memory_order_acquire));
  }
  word add(word& w, word v, weakness which) const {
    return ref(w).fetch_add(v, order(which, std::memory_order_acq_rel));
  }
  static bool reached_pair(pair seen, word epoch) {
    return algorithm::reached(static_cast<word>(seen), epoch);
  }

  weakness weakened_;
  bool fenced_ = false;  // a local release fence precedes the relaxed additions
};

}  // namespace mgsync::race
