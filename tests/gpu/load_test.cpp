// Load on GPUs: it makes traffic where it was asked to, says so truly, and ends.
#include <numeric>

#include "barriers/parts/round_loop/load_maker.hpp"
#include "tests/gpu/some_gpus.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;
using round_loop::load_maker;

const barrier_variant& named(std::string_view backend, std::string_view variant) {
  for (const auto* b : backends())
    if (const auto* found = b->name == backend ? b->find(variant) : nullptr) return *found;
  throw std::runtime_error("no such barrier");
}

trial timed(const barrier_variant& variant, const configuration& wanted, int gpus, session& where) {
  const auto made = variant.make.of(topology::device::gpu)(group_of(gpus), wanted, where);
  EXPECT_TRUE(made.barrier) << made.reason;
  if (!made.barrier) return {};
  run_request request;
  request.rounds = 2000;
  request.deadline = awake_clock::now() + 10s;
  return made.barrier->run(request);
}

TEST(load, is_counted_and_in_its_place_beside_every_kind_of_kernel) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  for (const traffic kind : {traffic::local_stores, traffic::local_loads, traffic::host_reads})
    for (const load_sms sms : {load_sms::others, load_sms::all})
      for (const auto& [backend, variant] :
           {std::pair{"multigrid", "auto"}, {"grid", "cooperative-groups"}}) {
        auto wanted = shape(0, 32);
        wanted.load = {kind, 0, 64, sms};
        const auto seen = timed(named(backend, variant), wanted, 1, here.session());
        ASSERT_EQ(seen.loads.size(), 1u);
        EXPECT_GT(seen.loads[0].gbps, 0) << backend;
        EXPECT_EQ(seen.loads[0].misplaced, "") << backend;
      }
}

// By the driver's own choice of an SM's shared memory a kernel waits for the load's end: with shared memory
// of its own beside 128 threads, and without any beside 512.
TEST(load, lets_every_kernel_start_beside_it) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  for (const unsigned threads : {32u, 128u, 512u})
    for (const auto& [backend, variant] :
         {std::pair{"multigrid", "library"}, {"multigrid", "auto"}, {"grid", "cooperative-groups"}})
      for (const unsigned block : {32u, 256u}) {
        auto wanted = shape(1, block);
        wanted.load = {traffic::local_stores, 0, threads, load_sms::all};
        const auto begin = std::chrono::steady_clock::now();
        const auto seen = timed(named(backend, variant), wanted, 1, here.session());
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s)
            << backend << " of " << block << " beside " << threads;
        ASSERT_EQ(seen.loads.size(), 1u);
        EXPECT_GT(seen.loads[0].gbps, 0) << backend;
        EXPECT_EQ(seen.loads[0].misplaced, "") << backend << " of " << block << " beside " << threads;
      }
}

TEST(load, reaches_the_peers) {
  MGSYNC_NEEDS_GPUS(2);
  one_rank here;
  for (const traffic kind : {traffic::peer_stores, traffic::peer_loads}) {
    auto wanted = shape(0, 32);
    wanted.load = {kind, 0, 512, load_sms::others};
    const auto seen = timed(named("multigrid", "auto"), wanted, 2, here.session());
    ASSERT_EQ(seen.loads.size(), 2u);
    for (const auto& one : seen.loads) EXPECT_GT(one.gbps, 5) << static_cast<int>(kind);
  }
}

// The twin: told that the barrier ran on every SM, or on none of the load's, it must complain.
TEST(load, says_when_it_shared_an_sm_or_did_not) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  const auto sms = static_cast<std::uint32_t>(cuda::sm_count(0));
  std::vector<std::uint32_t> every(sms);
  std::iota(every.begin(), every.end(), 0u);
  const cuda::device_scope scope(0);
  for (const load_sms on : {load_sms::others, load_sms::all}) {
    auto made =
        round_loop::make_load_maker(group_of(1), {traffic::local_stores, 0, 64, on}, 1, "", here.session());
    ASSERT_TRUE(made.maker) << made.reason;
    made.maker->start(0, awake_clock::now() + 5s);
    made.maker->count(0);
    made.maker->stop(0);
    const auto on_every = made.maker->seen(0, every);
    EXPECT_EQ(on_every.misplaced.empty(), on == load_sms::all) << on_every.misplaced;
    const std::vector<std::uint32_t> nowhere{sms + 1000};
    EXPECT_EQ(made.maker->seen(0, nowhere).misplaced.empty(), on == load_sms::others);
  }
}

TEST(load, ends_by_itself_when_nobody_stops_it) {
  MGSYNC_NEEDS_GPUS(1);
  one_rank here;
  const cuda::device_scope scope(0);
  auto made = round_loop::make_load_maker(group_of(1), {traffic::local_stores, 0, 64, load_sms::all}, 1, "",
                                          here.session());
  ASSERT_TRUE(made.maker) << made.reason;
  const auto begin = std::chrono::steady_clock::now();
  made.maker->start(0, awake_clock::now() + 200ms);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto lasted = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(lasted, 150ms);
  EXPECT_LT(lasted, 3s);
}

}}  // namespace mgsync::test
