// The policy of host threads, in one process or over ranks of one host: a block is one thread, and local and
// system scope are the same. C++20. ThreadSanitizer understands all of it: there is no fence (see
// store_fenced_system).
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "barriers/parts/algorithm/policy.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

// What bounds every wait of a run. The abort word is seen by all threads and ranks of the host: 0 go on,
// timed_out: somebody's deadline passed, interrupted: somebody was asked to stop, overdue: the run as a whole
// lasts too long.
struct host_limits {
  static constexpr std::uint32_t timed_out = 1;
  static constexpr std::uint32_t interrupted = 2;
  static constexpr std::uint32_t overdue = 3;
  using ticks = std::chrono::nanoseconds;
  static ticks steady() { return std::chrono::steady_clock::now().time_since_epoch(); }

  std::chrono::nanoseconds patience{};  // the longest that one wait may last, however long the run
  std::uint32_t* abort = nullptr;
  bool yield = false;                 // more threads than cores: let the others run
  bool (*asked_to_stop)() = nullptr;  // whether this process was asked to end
  ticks (*now)() = steady;            // the clock, which may stand still while the process is stopped
  ticks ends = ticks::max();          // of that clock: no wait of the run goes on after it
};

class host_policy {
 public:
  using word = std::uint32_t;
  host_policy() = default;
  explicit host_policy(const host_limits& limits) : limits_(limits) {}

  std::uint32_t load_acquire_local(word& w) const { return ref(w).load(std::memory_order_acquire); }
  std::uint32_t load_acquire_system(word& w) const { return ref(w).load(std::memory_order_acquire); }
  void store_release_local(word& w, std::uint32_t v) const { ref(w).store(v, std::memory_order_release); }
  std::uint32_t add_acq_rel_local(word& w, std::uint32_t v) const {
    return ref(w).fetch_add(v, std::memory_order_acq_rel);
  }
  std::uint32_t add_acq_rel_system(word& w, std::uint32_t v) const { return add_acq_rel_local(w, v); }
  void fence_release_system() const {}
  // A release store: the same instruction as a relaxed one on x86, and what a race checker follows.
  void store_fenced_system(word& w, std::uint32_t v) const { ref(w).store(v, std::memory_order_release); }

  void add_fenced_system(word& w, std::uint32_t v) const { ref(w).fetch_add(v, std::memory_order_release); }
  bool swap_fenced_system(word& w, std::uint32_t from, std::uint32_t to) const {
    return ref(w).compare_exchange_strong(from, to, std::memory_order_release, std::memory_order_relaxed);
  }
  bool swap_acquire_system(word& w, std::uint32_t from, std::uint32_t to) const {
    return ref(w).compare_exchange_strong(from, to, std::memory_order_acquire, std::memory_order_relaxed);
  }
  std::uint32_t load_relaxed_system(word& w) const { return load_relaxed_local(w); }

  using pair = std::uint64_t;
  void store_pair_release_local(pair& w, pair v) const { ref(w).store(v, std::memory_order_release); }
  void store_pair_fenced_system(pair& w, pair v) const { ref(w).store(v, std::memory_order_release); }
  pair load_pair_relaxed_system(pair& w) const { return ref(w).load(std::memory_order_relaxed); }
  std::uint32_t load_relaxed_local(word& w) const { return ref(w).load(std::memory_order_relaxed); }
  void store_relaxed_local(word& w, std::uint32_t v) const { ref(w).store(v, std::memory_order_relaxed); }
  void add_relaxed_local(word& w, std::uint32_t v) const { ref(w).fetch_add(v, std::memory_order_relaxed); }
  std::uint32_t sum(std::uint32_t v) const { return v; }

  void sync() const {}
  bool sync_and(bool ok) const { return ok; }
  bool in_team() const { return true; }
  bool leader() const { return true; }
  template <class T>
  T broadcast(T value) const {
    return value;
  }
  bool all(bool ok) const { return ok; }
  void sync_team() const {}
  template <class F>
  void for_each(unsigned n, F f) const {
    for (unsigned i = 0; i < n; ++i) f(i);
  }

  bool wait_local(word& w, std::uint32_t epoch) const { return wait_system(w, epoch); }
  bool wait_system(word& w, std::uint32_t epoch) const {
    return wait_until([&] { return reached(load_acquire_system(w), epoch); });
  }
  bool wait_pair_local(pair& w, std::uint32_t epoch, pair& seen) const {
    return wait_pair_system(w, epoch, seen);
  }
  bool wait_pair_system(pair& w, std::uint32_t epoch, pair& seen) const {
    return wait_until([&] {
      seen = ref(w).load(std::memory_order_acquire);
      return reached(static_cast<std::uint32_t>(seen), epoch);
    });
  }

  template <class Condition>
  bool wait_lane(Condition holds) const {
    return wait_until(holds);
  }
  // The only spin loop of host members. False: given up.
  template <class Condition>
  bool wait_until(Condition holds) const {
    constexpr unsigned quick_polls = 64;  // without a pause, for a line that is already on its way
    // On a busy machine every yield may cost a time slice: a look at the clock after a thousand of them comes
    // seconds late.
    const unsigned polls_per_look = limits_.yield ? 16 : 1024;
    host_limits::ticks first_look{};
    for (unsigned polls = 1;; ++polls) {
      if (holds()) return true;
      if (polls > quick_polls) limits_.yield ? static_cast<void>(sched_yield()) : pause();
      if (polls % polls_per_look != 0) continue;
      if (first_look == host_limits::ticks{}) first_look = limits_.now();
      if (give_up(first_look)) return false;
    }
  }

 private:
  template <class T>
  static std::atomic_ref<T> ref(T& w) {
    static_assert(std::atomic_ref<T>::is_always_lock_free, "words are shared between processes");
    return std::atomic_ref<T>(w);
  }

  static void pause() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  bool give_up(host_limits::ticks since) const {
    std::atomic_ref<std::uint32_t> abort(*limits_.abort);
    if (abort.load(std::memory_order_relaxed) != 0) return true;
    std::uint32_t why = 0;
    const auto time = limits_.now();
    if (time > limits_.ends) why = host_limits::overdue;
    if (time - since > limits_.patience) why = host_limits::timed_out;
    if (limits_.asked_to_stop != nullptr && limits_.asked_to_stop()) why = host_limits::interrupted;
    if (why == 0) return false;
    std::uint32_t expected = 0;
    abort.compare_exchange_strong(expected, why, std::memory_order_relaxed);
    return true;
  }

  host_limits limits_;
};

// Symmetric memory as an algorithm sees it: one base address per member.
struct host_lines {
  std::uint32_t* const* parts;
  std::uint32_t& line(unsigned member, unsigned index) const { return word(member, index, 0); }
  std::uint32_t& word(unsigned member, unsigned index, unsigned offset) const {
    return parts[member][index * (line_bytes / sizeof(std::uint32_t)) + offset];
  }
  std::uint64_t& pair_line(unsigned member, unsigned index) const {
    return *reinterpret_cast<std::uint64_t*>(&line(member, index));
  }
};

}}}  // namespace mgsync::v1::algorithm
