#include "src/studies/timeline/core_clocks.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "src/base/cycle_counter.hpp"

namespace mgsync::timelines {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::uint64_t exchanges = 1000;
constexpr auto patience = std::chrono::seconds(10);

// Spins until the word is `wanted`; false where that takes too long.
bool wait_for(const std::atomic<std::uint64_t>& word, std::uint64_t wanted, steady::time_point deadline,
              std::atomic<bool>& given_up) {
  for (std::uint64_t polls = 1; word.load(std::memory_order_acquire) != wanted; ++polls) {
    if (polls % 4096 != 0) continue;
    if (given_up.load(std::memory_order_relaxed)) return false;
    if (steady::now() > deadline) {
      given_up.store(true, std::memory_order_relaxed);
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

struct alignas(128) shared_word {
  std::atomic<std::uint64_t> value{0};
};

}  // namespace

double measure_ticks_per_ns() {
  const auto begin = steady::now();
  const auto first = cycles_now();
  while (steady::now() - begin < std::chrono::milliseconds(20)) {}
  const auto end = steady::now();
  const auto last = cycles_now();
  return static_cast<double>(last - first) / std::chrono::duration<double, std::nano>(end - begin).count();
}

std::vector<clock_offset> core_clocks::measure(std::string& reason) {
  std::vector<clock_offset> all{same_clock};
  for (unsigned other = 1; other < pool_.size(); ++other) {
    shared_word turn;
    std::atomic<bool> given_up{false};
    std::vector<exchange> seen(exchanges);
    const auto deadline = steady::now() + patience;
    pool_.run([&](unsigned i) {
      if (i == 0) {
        for (std::uint64_t k = 0; k < exchanges; ++k) {
          seen[k].asked = cycles_now();
          turn.value.store(2 * k + 1, std::memory_order_release);
          if (!wait_for(turn.value, 2 * k + 2, deadline, given_up)) return;
          seen[k].heard = cycles_now();
        }
      } else if (i == other) {
        for (std::uint64_t k = 0; k < exchanges; ++k) {
          if (!wait_for(turn.value, 2 * k + 1, deadline, given_up)) return;
          seen[k].answered = cycles_now();
          turn.value.store(2 * k + 2, std::memory_order_release);
        }
      }
    });
    const auto offset = given_up.load() ? std::nullopt : offset_of(seen);
    if (!offset) {
      reason =
          given_up.load()
              ? fmt::format("members 0 and {} did not answer each other within 10 s", other)
              : fmt::format(
                    "the cycle counters of members 0 and {} do not run alike: no offset fits all messages",
                    other);
      return {};
    }
    all.push_back(*offset);
  }
  return all;
}

}  // namespace mgsync::timelines
