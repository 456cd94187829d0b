// A limit that Z3 keeps.
#pragma once

#include <z3++.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace mgsync::pipeline {

// Calls `solver.check()` and interrupts it when the limit is over. Z3 has a "timeout" of its own, which is lost where it goes
// off before the search listens to it; here it is told again and again. `unknown` where it did not get to an answer.
template <class Solver>
z3::check_result check_within(z3::context& context, Solver& solver, std::chrono::milliseconds limit) {
  std::mutex mutex;
  std::condition_variable_any wake;
  const auto until = std::chrono::steady_clock::now() + limit;
  std::jthread watch([&](const std::stop_token& over) {
    std::unique_lock lock(mutex);
    wake.wait_until(lock, over, until, [] { return false; });
    while (!over.stop_requested()) {
      context.interrupt();
      wake.wait_for(lock, over, std::chrono::milliseconds(20), [] { return false; });
    }
  });
  try {
    return solver.check();
  } catch (const z3::exception&) {
    if (std::chrono::steady_clock::now() < until) throw;
    return z3::unknown;
  }
}

}  // namespace mgsync::pipeline
