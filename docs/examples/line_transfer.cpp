// How long a cache line takes from one core to another: two pinned threads pass an epoch back and forth, each
// writing a line of its own. Half a round trip is the least that one hop of any barrier of host members can
// cost. Usage: line_transfer [CPU ...]: from CPU 0 to each of them, in nanoseconds, the median of 11 runs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "src/base/worker_pool.hpp"

namespace {

struct alignas(128) line {
  std::atomic<std::uint32_t> epoch{0};
};

double one_way_ns(int from, int to) {
  constexpr std::uint32_t rounds = 50'000;
  line there;
  line back;
  double nanoseconds = 0;
  mgsync::worker_pool pool({from, to});
  pool.run([&](unsigned thread) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint32_t i = 1; i <= rounds; ++i) {
      if (thread == 0) there.epoch.store(i, std::memory_order_release);
      while ((thread == 0 ? back : there).epoch.load(std::memory_order_acquire) != i) {}
      if (thread == 1) back.epoch.store(i, std::memory_order_release);
    }
    if (thread == 0)
      nanoseconds =
          std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  });
  return nanoseconds / rounds / 2;
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    const int to = std::atoi(words[i]);
    std::vector<double> runs;
    for (int repeat = 0; repeat < 11; ++repeat) runs.push_back(one_way_ns(0, to));
    std::nth_element(runs.begin(), runs.begin() + 5, runs.end());
    std::printf("CPU 0 to CPU %d: %.0f ns\n", to, runs[5]);
  }
}
