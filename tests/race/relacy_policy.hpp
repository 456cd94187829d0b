// The algorithms' policy and memory over Relacy's atomics. The weakness is chosen at run time.
// Include after <relacy/relacy.hpp>, which redefines words of the standard library.
#pragma once

#include "barriers/parts/algorithm/policy.hpp"
#include "tests/race/orders.hpp"

namespace mgsync::race {

using relacy_word = rl::atomic<unsigned>;
using relacy_pair = rl::atomic<unsigned long long>;

// What the lanes of one block meet in: their votes, which order nothing, and their barriers, which do.
struct relacy_team {
  relacy_pair votes[2][2];  // of each lane, two in turn: a vote's number above, its value below
  relacy_word barriers[2];  // how many each lane came to

  relacy_team()
      : votes{{relacy_pair(0), relacy_pair(0)}, {relacy_pair(0), relacy_pair(0)}},
        barriers{relacy_word(0), relacy_word(0)} {}
};

// One thread's place in its team, whatever copies of its policy there are.
struct relacy_lane {
  relacy_team& team;
  unsigned number;
  unsigned long long votes = 0;
  unsigned barriers = 0;
};

// A block is a team of one thread or of two, as a warp is of 32.
template <unsigned Lanes>
class relacy_policy {
  static_assert(Lanes == 1 || Lanes == 2);

 public:
  using word = relacy_word;
  using pair = relacy_pair;
  static constexpr unsigned lanes = Lanes;
  static constexpr unsigned words_behind = 9;  // how far behind(w) is from w
  static word& behind(word& w) { return (&w)[words_behind]; }
  static unsigned kept(unsigned value) { return value; }

  relacy_policy(weakness weakened, relacy_lane& lane) : weakened_(weakened), at_(lane) {}

  unsigned load_acquire_local(word& w) { return w($).load(rl::mo_acquire); }
  unsigned load_acquire_system(word& w) { return w($).load(order(weakness::system_wait, rl::mo_acquire)); }
  unsigned load_relaxed_system(word& w) { return load_relaxed_local(w); }
  std::uint64_t load_pair_relaxed_system(pair& w) { return w($).load(rl::mo_relaxed); }
  unsigned load_relaxed_local(word& w) { return w($).load(rl::mo_relaxed); }
  void store_relaxed_local(word& w, unsigned v) { w($).store(v, rl::mo_relaxed); }
  void add_relaxed_local(word& w, unsigned v) { w($).fetch_add(v, rl::mo_relaxed); }
  void store_release_local(word& w, unsigned v) {
    w($).store(v, order(weakness::local_release, rl::mo_release));
  }
  unsigned add_acq_rel_local(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::local_arrival, rl::mo_acq_rel));
  }
  unsigned add_acq_rel_system(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::system_add, rl::mo_acq_rel));
  }
  void add_release_local(word& w, unsigned v) {
    w($).fetch_add(v, order(weakness::local_arrival, rl::mo_release));
  }
  unsigned fetch_add_release_local(word& w, unsigned v) {
    return w($).fetch_add(v, order(weakness::local_arrival, rl::mo_release));
  }
  unsigned fetch_add_polled_local(word& w, unsigned v) { return w($).fetch_add(v, rl::mo_relaxed); }
  unsigned fetch_add_relaxed_local(word& w, unsigned v) { return w($).fetch_add(v, rl::mo_relaxed); }
  // The real things, fences and relaxed accesses: Relacy knows fences.
  void fence_release_local() {
    if (weakened_ != weakness::local_arrival) rl::atomic_thread_fence(rl::mo_release, $);
  }
  void fence_release_system() {
    if (weakened_ != weakness::system_store) rl::atomic_thread_fence(rl::mo_release, $);
  }
  void store_fenced_system(word& w, unsigned v) { w($).store(v, rl::mo_relaxed); }
  void add_fenced_system(word& w, unsigned v) { w($).fetch_add(v, rl::mo_relaxed); }
  bool swap_fenced_system(word& w, unsigned from, unsigned to) {
    return w($).compare_exchange_strong(from, to, rl::mo_relaxed, rl::mo_relaxed);
  }
  bool swap_acquire_system(word& w, unsigned from, unsigned to) {
    return w($).compare_exchange_strong(from, to, order(weakness::system_wait, rl::mo_acquire),
                                        rl::mo_relaxed);
  }
  void store_pair_release_local(pair& w, unsigned long long v) {
    w($).store(v, order(weakness::local_release, rl::mo_release));
  }
  void store_pair_fenced_system(pair& w, unsigned long long v) { w($).store(v, rl::mo_relaxed); }
  unsigned poll_local(word& w) { return load_relaxed_local(w); }
  std::uint64_t poll_pair_system(pair& w) { return w($).load(rl::mo_relaxed); }
  void fence_polled_local() {
    if (weakened_ != weakness::local_wait) rl::atomic_thread_fence(rl::mo_acquire, $);
  }
  void fence_polled_system() {
    if (weakened_ != weakness::system_wait) rl::atomic_thread_fence(rl::mo_acquire, $);
  }

  // The team is the block.
  void sync() { meet(rl::mo_release, rl::mo_acquire); }
  bool sync_and(bool ok) {
    const bool both = all(ok);
    sync();
    return both;
  }
  void sync_team() {
    if (weakened_ != weakness::team_barrier) sync();
  }
  bool in_team() { return true; }
  unsigned lane() const { return at_.number; }
  bool leader() { return at_.number == 0; }
  template <class T>
  T broadcast(T v) {
    const unsigned other = exchange(static_cast<unsigned>(v));
    return at_.number == 0 ? v : static_cast<T>(other);
  }
  bool all(bool ok) { return exchange(ok) != 0 && ok; }
  bool any(bool yes) { return exchange(yes) != 0 || yes; }
  unsigned sum(unsigned v) {
    const unsigned other = exchange(v);
    return Lanes == 1 ? v : v + other;
  }
  template <class V, class Op>
  V combined(V v, unsigned n, Op op) {
    if constexpr (Lanes == 1) {
      return v;
    } else {
      const V other = exchange(v), first = at_.number == 0 ? v : other, second = at_.number == 0 ? other : v;
      return n == 1 ? first : op(first, second);
    }
  }
  void hold(unsigned) {}
  template <class F>
  void for_each(unsigned n, F f) {
    for (unsigned i = at_.number; i < n; i += Lanes) f(i);
    sync();
  }

  bool wait_local(word& w, unsigned epoch) {
    return wait(w, epoch, order(weakness::local_wait, rl::mo_acquire));
  }
  bool wait_system(word& w, unsigned epoch) {
    return wait(w, epoch, order(weakness::system_wait, rl::mo_acquire));
  }
  bool wait_pair_local(pair& w, unsigned epoch, std::uint64_t& seen) {
    return wait_pair(w, epoch, seen, order(weakness::local_wait, rl::mo_acquire));
  }
  bool wait_pair_system(pair& w, unsigned epoch, std::uint64_t& seen) {
    return wait_pair(w, epoch, seen, order(weakness::system_wait, rl::mo_acquire));
  }
  template <algorithm::polling Loop, unsigned N, class Words>
  bool wait_words(unsigned epoch, Words words) {
    return wait_until(epoch, [&] { return all_reached<Loop, N>(words); });
  }
  template <algorithm::polling, unsigned N, class Words>
  bool all_reached(Words words) {
    bool here = true;
    for (unsigned i = 0; i < N; ++i)
      if (const auto w = words(i); w.address != nullptr)
        here = here && algorithm::reached((*w.address)($).load(rl::mo_relaxed), w.target);
    return all(here);
  }
  template <algorithm::polling = algorithm::polling::quiet, class Here>
  bool wait_each(unsigned epoch, Here here) {
    return wait_until(epoch, here);
  }
  template <class Condition>
  bool wait_lane(Condition holds) {
    return wait_until(0, holds);
  }
  template <class Condition>
  bool wait_until(unsigned, Condition holds) {
    rl::linear_backoff backoff;
    while (!holds()) backoff.yield($);
    return true;
  }

 private:
  // The other lane's value; the own one where there is no other. Relaxed: a vote orders nothing.
  unsigned exchange(unsigned mine) {
    if (Lanes == 1) return mine;
    const unsigned long long number = ++at_.votes;
    at_.team.votes[at_.number][number % 2]($).store(number << 32 | mine, rl::mo_relaxed);
    unsigned long long seen = 0;
    wait_until(0, [&] {
      seen = at_.team.votes[1 - at_.number][number % 2]($).load(rl::mo_relaxed);
      return seen >> 32 == number;
    });
    return static_cast<unsigned>(seen);
  }
  void meet(rl::memory_order arrive, rl::memory_order leave) {
    if (Lanes == 1) return;
    const unsigned number = ++at_.barriers;
    at_.team.barriers[at_.number]($).store(number, arrive);
    wait_until(0, [&] { return at_.team.barriers[1 - at_.number]($).load(leave) >= number; });
  }

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
  relacy_lane& at_;
};

// Symmetric memory: only the words that an algorithm uses, since each costs time in every schedule.
struct relacy_memory {
  relacy_word* words;
  relacy_pair* pairs;
  unsigned words_per_member;
  unsigned pairs_per_member;
  unsigned members;
  unsigned (*place_of)(unsigned line, unsigned offset, unsigned members);  // where a member keeps a word

  relacy_word& line(unsigned member, unsigned index) const { return word(member, index, 0); }
  relacy_word& word(unsigned member, unsigned index, unsigned offset) const {
    return words[member * words_per_member + place_of(index, offset, members)];
  }
  relacy_pair& pair_line(unsigned member, unsigned index) const {
    return pairs[member * pairs_per_member + index];
  }
  relacy_pair& pair_at(unsigned member, unsigned index) const { return pair_line(member, index); }
};

}  // namespace mgsync::race
