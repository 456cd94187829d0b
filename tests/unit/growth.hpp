// How the time for something grows with its size, on a machine that may be busy: by the thread's own CPU
// time.
#pragma once

#include <ctime>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace mgsync::test {

template <class Action>
double cpu_seconds_of(Action action) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const double begin = now();
  action();
  return now() - begin;
}

// What four times the size takes, over what the size takes: 4 where the time is linear, 16 where it is
// quadratic. `prepare(size)` makes what `action` is timed on; the best of three.
template <class Prepare, class Action>
double growth_of(std::size_t size, Prepare prepare, Action action) {
  double best[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const bool large : {false, true}) {
    const auto given = prepare(large ? 4 * size : size);
    for (int i = 0; i < 3; ++i) best[large] = std::min(best[large], cpu_seconds_of([&] { action(given); }));
  }
  return best[1] / std::max(best[0], 1e-4);
}

// Above this it is not linear: between 4, with room for caches that are too small, and 16.
inline constexpr double more_than_linear = 9;

}  // namespace mgsync::test
