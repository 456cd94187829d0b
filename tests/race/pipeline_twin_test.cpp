// The producers and the consumer of the synthetic pipeline on host threads: plain data in a circular buffer,
// handed over by barriers of phases as a GPU's mbarriers are. Without arguments every stage must arrive
// whole, and ThreadSanitizer (preset tsan) must stay silent. With `weaken WHAT` one ordering or one wait is
// taken away, and it must report a race.
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "src/studies/pipeline/agents.hpp"

namespace {

using namespace mgsync::pipeline;

constexpr unsigned most_buffers = 5;
constexpr int stages = 400;

enum class weakness {
  none,
  commit,
  release,
  producer_wait,
  consumer_wait,
  producer_never_waits,
  consumer_never_waits
};
struct named_weakness {
  std::string_view name;
  weakness what;
};
constexpr named_weakness weaknesses[] = {{"commit", weakness::commit},
                                         {"release", weakness::release},
                                         {"producer-wait", weakness::producer_wait},
                                         {"consumer-wait", weakness::consumer_wait},
                                         {"producer-never-waits", weakness::producer_never_waits},
                                         {"consumer-never-waits", weakness::consumer_never_waits}};

// An mbarrier in one word: the phase above, the arrivals that are still missing below.
struct phase_barrier {
  std::atomic<std::uint64_t> word{0};
  std::uint32_t arrivals = 1;

  void init(std::uint32_t count) {
    arrivals = count;
    word.store(count, std::memory_order_relaxed);
  }
  static unsigned parity_of(std::uint64_t w) { return static_cast<unsigned>(w >> 32) & 1; }
};

struct thread_policy {
  std::memory_order arrives = std::memory_order_acq_rel;
  std::memory_order waits = std::memory_order_acquire;
  bool never_waits = false;
  std::chrono::milliseconds patience{
      20000};  // a partner that is gone ends the run, and nobody waits any more
  std::atomic<bool>* lost = nullptr;

  void arrive(phase_barrier& b) const {
    std::uint64_t seen = b.word.load(std::memory_order_relaxed), next = 0;
    do {
      const bool last = (seen & 0xffffffffu) == 1;
      next = last ? (((seen >> 32) + 1) << 32 | b.arrivals) : seen - 1;
    } while (!b.word.compare_exchange_weak(seen, next, arrives, std::memory_order_relaxed));
  }
  // The phase of this parity has ended once the current one has the other.
  void wait(phase_barrier& b, unsigned parity) const {
    if (never_waits) {  // slowly all the same, so that the partner gets its turns while it still runs
      for (int i = 0; i < 20; ++i) sched_yield();
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    while (phase_barrier::parity_of(b.word.load(waits)) == parity && !lost->load(std::memory_order_relaxed)) {
      if (std::chrono::steady_clock::now() - begin > patience) lost->store(true, std::memory_order_relaxed);
      sched_yield();
    }
  }
};

struct tile {
  std::array<int, 2> words{};  // A's and B's
};

// Returns how many stages the consumer saw with other data than was loaded.
int run(int producers, unsigned buffers, weakness weakened) {
  std::array<phase_barrier, most_buffers> full, empty;
  std::array<tile, most_buffers> buffer{};
  for (unsigned q = 0; q < buffers; ++q) {
    full[q].init(static_cast<std::uint32_t>(producers));
    empty[q].init(1);
  }
  std::atomic<bool> lost = false;
  thread_policy producing, consuming;
  producing.lost = consuming.lost = &lost;
  if (weakened != weakness::none) producing.patience = consuming.patience = std::chrono::milliseconds(300);
  if (weakened == weakness::commit) producing.arrives = std::memory_order_relaxed;
  if (weakened == weakness::release) consuming.arrives = std::memory_order_relaxed;
  if (weakened == weakness::producer_wait) producing.waits = std::memory_order_relaxed;
  if (weakened == weakness::consumer_wait) consuming.waits = std::memory_order_relaxed;
  producing.never_waits = weakened == weakness::producer_never_waits;
  consuming.never_waits = weakened == weakness::consumer_never_waits;
  using semaphores = ring_semaphores<phase_barrier, thread_policy>;
  int wrong = 0;
  std::atomic<int> missing = producers + 1;
  const auto start_together = [&] {
    missing.fetch_sub(1, std::memory_order_relaxed);
    while (missing.load(std::memory_order_relaxed) > 0) sched_yield();
  };
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; ++p)
    threads.emplace_back([&, p] {
      semaphores mine(full.data(), empty.data(), buffers, producing);
      start_together();
      produce_stages(mine, stages, [&](int stage) {
        if (producers == 1 || p == 0) buffer[mine.slot()].words[0] = stage;
        if (producers == 1 || p == 1) buffer[mine.slot()].words[1] = -stage;
      });
    });
  threads.emplace_back([&] {
    semaphores mine(full.data(), empty.data(), buffers, consuming);
    start_together();
    consume_stages(mine, stages, [&](int stage) {
      const tile& seen = buffer[mine.slot()];
      if (seen.words[0] != stage || seen.words[1] != -stage) ++wrong;
    });
  });
  for (std::thread& t : threads) t.join();
  return lost ? stages : wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "weaken") {
    for (const auto& [name, what] : weaknesses)
      if (name == argv[2]) {
        std::printf("%s: %d stages with wrong data\n", argv[2], run(1, 2, what) + run(2, 3, what));
        return 0;  // ThreadSanitizer ends the program with its own code where it saw a race
      }
  }
  if (argc != 1) {
    std::fprintf(stderr, "usage: pipeline_twin_test [weaken WHAT]\n");
    return 2;
  }
  int wrong = 0;
  for (int producers = 1; producers <= 2; ++producers)
    for (unsigned buffers = 1; buffers <= most_buffers; ++buffers)
      wrong += run(producers, buffers, weakness::none);
  std::printf("%d stages with wrong data\n", wrong);
  return wrong == 0 ? 0 : 1;
}
