#include "tests/race/relacy_search.hpp"

#include <cstdlib>
#include <ostream>
#include <streambuf>

// After the standard headers: it redefines words that they use.
#include <relacy/relacy.hpp>

namespace mgsync::race {

namespace {

scenario* current = nullptr;

template <unsigned Threads>
struct program : rl::test_suite<program<Threads>, Threads> {
  program() { current->begin(); }
  ~program() { current->end(); }
  void thread(unsigned self) { current->thread(self); }
};

// The context-bound search with a limit: without one it goes on until its tree of schedules is exhausted.
template <unsigned Threads>
struct limited_search : rl::context_bound_scheduler<Threads> {
  using rl::context_bound_scheduler<Threads>::context_bound_scheduler;
  bool iteration_end() {
    return rl::context_bound_scheduler<Threads>::iteration_end() || ++done == this->params_.iteration_count;
  }
  rl::iteration_t done = 0;
};

// Takes what Relacy prints of a violated schedule. It must not allocate: Relacy's own allocator is in force
// then.
class discard : public std::streambuf {
  int overflow(int c) override { return c; }
  std::streamsize xsputn(const char*, std::streamsize n) override { return n; }
};

template <unsigned Threads>
bool run(rl::test_params& params, search how) {
  rl::ostringstream state;
  // Not rl::simulate: it also instantiates the full search, and runs a violated schedule a second time to
  // print it.
  const auto result =
      how == search::random
          ? rl::run_test<program<Threads>, rl::random_scheduler<Threads>>(params, state, false)
          : rl::run_test<program<Threads>, limited_search<Threads>>(params, state, false);
  return result == rl::test_result_success;
}

}  // namespace

bool holds(scenario& what, unsigned threads, search how, unsigned iterations) {
  current = &what;
  discard nothing;
  std::ostream quiet(&nothing);
  rl::test_params params;
  params.iteration_count = iterations;
  params.execution_depth_limit = 20'000;
  params.context_bound = 2;
  params.search_type =
      how == search::random ? rl::random_scheduler_type : rl::fair_context_bound_scheduler_type;
  params.output_stream = &quiet;
  params.progress_stream = &quiet;
  switch (threads) {
  case 2: return run<2>(params, how);
  case 3: return run<3>(params, how);
  case 4: return run<4>(params, how);
  case 5: return run<5>(params, how);
  case 6: return run<6>(params, how);
  case 7: return run<7>(params, how);
  case 8: return run<8>(params, how);
  case 9: return run<9>(params, how);
  case 12: return run<12>(params, how);
  default: std::abort();
  }
}

}  // namespace mgsync::race
