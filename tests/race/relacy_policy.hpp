// The algorithms' policy and memory over Relacy's atomics. The weakness is chosen at run time.
// Include after <relacy/relacy.hpp>, which redefines words of the standard library.
#pragma once

#include "barriers/parts/algorithm/policy.hpp"
#include "tests/race/orders.hpp"

namespace mgsync::race {

class relacy_policy {
 public:
  using word = rl::atomic<unsigned>;
  using pair = rl::atomic<unsigned long long>;
  static constexpr unsigned lanes = 1;
  static unsigned kept(unsigned value) { return value; }

  explicit relacy_policy(weakness weakened) : weakened_(weakened) {}

  unsigned load_acquire_local(word& w) { return w($).load(rl::mo_acquire); }
  unsigned load_acquire_system(word& w) { return w($).load(rl::mo_acquire); }
  unsigned load_relaxed_local(word& w) { return w($).load(rl::mo_relaxed); }
  void store_relaxed_local(word& w, unsigned v) { w($).store(v, rl::mo_relaxed); }
  void add_relaxed_local(word& w, unsigned v) { w($).fetch_add(v, rl::mo_relaxed); }
  void store_release_local(word& w, unsigned v) { w($).store(v, order(weakness::local_release, rl::mo_release)); }
  unsigned add_acq_rel_local(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::local_arrival, rl::mo_acq_rel));
  }
  unsigned add_acq_rel_system(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::system_add, rl::mo_acq_rel));
  }
  void add_release_local(word& w, unsigned v) { w($).fetch_add(v, order(weakness::local_arrival, rl::mo_release)); }
  unsigned add_release_local_before_fence(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::local_arrival, rl::mo_release));
  }
  // The real things, fences and relaxed accesses: Relacy knows fences.
  void fence_release_local() {
    if (weakened_ != weakness::local_arrival) rl::atomic_thread_fence(rl::mo_release, $);
  }
  void fence_release_system() {
    if (weakened_ != weakness::system_store) rl::atomic_thread_fence(rl::mo_acq_rel, $);
  }
  void store_fenced_system(word& w, unsigned v) { w($).store(v, rl::mo_relaxed); }
  void store_pair_release_local(pair& w, unsigned long long v) {
    w($).store(v, order(weakness::local_release, rl::mo_release));
  }
  void store_pair_fenced_system(pair& w, unsigned long long v) { w($).store(v, rl::mo_relaxed); }
  unsigned poll_local(word& w) { return w($).load(rl::mo_relaxed); }
  unsigned poll_system(word& w) { return w($).load(rl::mo_relaxed); }
  void fence_polled_local() {
    if (weakened_ != weakness::local_wait) rl::atomic_thread_fence(rl::mo_acquire, $);
  }
  void fence_polled_system() {
    if (weakened_ != weakness::system_wait) rl::atomic_thread_fence(rl::mo_acquire, $);
  }

  // A block is one thread, and its team is that thread.
  void sync() {}
  bool sync_and(bool ok) { return ok; }
  bool in_team() { return true; }
  unsigned lane() { return 0; }
  bool leader() { return true; }
  template <class T>
  T broadcast(T v) {
    return v;
  }
  bool all(bool ok) { return ok; }
  bool unanimous(bool ok) { return ok; }
  bool any(bool yes) { return yes; }
  unsigned sum(unsigned v) { return v; }
  void hold(unsigned) {}
  template <class F>
  void for_each(unsigned n, F f) {
    for (unsigned i = 0; i < n; ++i) f(i);
  }

  bool wait_local(word& w, unsigned epoch) { return wait(w, epoch, order(weakness::local_wait, rl::mo_acquire)); }
  bool wait_system(word& w, unsigned epoch) { return wait(w, epoch, order(weakness::system_wait, rl::mo_acquire)); }
  bool wait_pair_local(pair& w, unsigned epoch, std::uint64_t& seen) {
    return wait_pair(w, epoch, seen, order(weakness::local_wait, rl::mo_acquire));
  }
  bool wait_pair_system(pair& w, unsigned epoch, std::uint64_t& seen) {
    return wait_pair(w, epoch, seen, order(weakness::system_wait, rl::mo_acquire));
  }
  template <class Condition>
  bool wait_until(unsigned, Condition holds) {
    rl::linear_backoff backoff;
    while (!holds()) backoff.yield($);
    return true;
  }

 private:
  rl::memory_order order(weakness which, rl::memory_order full) const {
    return weakened_ == which ? rl::mo_relaxed : full;
  }
  bool wait(word& w, unsigned epoch, rl::memory_order how) {
    return wait_until(epoch, [&] { return algorithm::reached(w($).load(how), epoch); });
  }
  bool wait_pair(pair& w, unsigned epoch, std::uint64_t& seen, rl::memory_order how) {
    return wait_until(epoch, [&] {
      seen = w($).load(how);
      return algorithm::reached(static_cast<unsigned>(seen), epoch);
    });
  }

  weakness weakened_;
};

// Symmetric memory: only the words that an algorithm uses, since each costs time in every schedule.
struct relacy_memory {
  relacy_policy::word* words;
  relacy_policy::pair* pairs;
  unsigned words_per_member;
  unsigned pairs_per_member;
  unsigned members;
  unsigned (*place_of)(unsigned line, unsigned offset, unsigned members);  // where a member keeps a word

  relacy_policy::word& line(unsigned member, unsigned index) const { return word(member, index, 0); }
  relacy_policy::word& word(unsigned member, unsigned index, unsigned offset) const {
    return words[member * words_per_member + place_of(index, offset, members)];
  }
  relacy_policy::pair& pair_line(unsigned member, unsigned index) const {
    return pairs[member * pairs_per_member + index];
  }
};

}  // namespace mgsync::race
