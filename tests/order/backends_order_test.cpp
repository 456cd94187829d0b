// Of the barriers of the backends, in PTX: is there an execution, by PTX's memory model, in which a thread
// that passed reads what another wrote a round ago, or a round ahead? None of what is a barrier; one of each
// of its weakened twins; and one of what orders less than a barrier. docs/memory-order.md says what is asked.
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barriers/peers/counter_per_peer.hpp"
#include "barriers/peers/flags_of_block_0.hpp"
#include "barriers/peers/flags_per_block.hpp"
#include "barriers/peers/pull.hpp"
#include "barriers/peers/sign_alternating.hpp"
#include "barriers/peers/sum_to_zero.hpp"
#include "barriers/peers/three_state.hpp"
#include "tests/order/answers.hpp"

namespace mgsync::test { namespace {

using algorithm::use_counter;
using algorithm::use_relay;

std::string text(const std::string& kernel) { return text_of("backends", 90, kernel + "_rounds"); }

// The first flags of a barrier of another project.
template <class Form>
algorithm::flag_image flags_of(unsigned members, unsigned blocks) {
  return peers::image_of<Form>(members, blocks, algorithm::first_gpu_epoch);
}
template <class Form>
grids gpus_of() {
  return {2, 1, 2, 2, {}, memory_of::other, flags_of<Form>};
}
algorithm::flag_image flags_of_equal_blocks(unsigned, unsigned blocks) {
  return algorithm::flag_image(std::size_t{2} * blocks * algorithm::words_of_line,
                               algorithm::first_gpu_epoch);
}

// GPUs x blocks x threads. The shapes of relay and counter are those of many blocks.
const std::map<std::string, grids> shapes{
    {"gpus", {2, 1, 2, 2, {}, memory_of::lines}},
    {"blocks", {1, 2, 1, 1, {}, memory_of::lines}},
    {"more_blocks", {1, 3, 1, 1, {}, memory_of::lines}},
    {"gpus_of_blocks", {2, 2, 1, 1, {}, memory_of::lines}},
    // A lane for each GPU, as a warp has: where the lanes share the GPUs among them, fewer would not wait.
    {"gpus_of_blocks_of_lanes", {2, 2, 2, 2, {}, memory_of::lines}},
    {"gpus_of_wide_blocks", {2, 2, 4, 4, {}, memory_of::lines}},  // a lane polls each of the others
    {"host_gpus", {2, 1, 2, 2, {}, memory_of::lines_on_host}},
    {"host_warps", {2, 1, 3, 2, {}, memory_of::lines_on_host}},
    {"host_blocks", {1, 2, 1, 1, {}, memory_of::lines_on_host}},
    {"host_gpus_of_blocks", {2, 2, 1, 1, {}, memory_of::lines_on_host}},
    {"relay_gpus", {2, 1, 2, 2, use_relay(1, 1, ""), memory_of::relay}},
    {"relay_warps", {2, 1, 3, 2, use_relay(1, 1, ""), memory_of::relay}},
    {"relay_counted", {1, 2, 1, 1, use_relay(1, 1, ""), memory_of::relay}},
    {"relay_counted_wide", {1, 2, 2, 2, use_relay(1, 1, ""), memory_of::relay}},
    {"relay_counted_of_three", {1, 3, 1, 1, use_relay(1, 1, ""), memory_of::relay}},
    {"relay_spread", {1, 2, 2, 2, use_relay(32, 32, ""), memory_of::relay}},
    {"relay_spread_of_three", {1, 3, 2, 2, use_relay(2, 1, ""), memory_of::relay}},
    {"relay_all_spread", {2, 2, 2, 2, use_relay(8, 1, ""), memory_of::relay}},
    // Each block polls an inbox of its own, of which the second one's are written by lanes 2 and 3.
    {"relay_all_inboxes", {2, 2, 4, 4, use_relay(32, 32, ""), memory_of::relay}},
    {"counter", {1, 2, 2, 2, use_counter(1, 1, 0, ""), memory_of::counter}},
    {"counter_spread", {1, 2, 2, 2, use_counter(16, 8, 0, ""), memory_of::counter}},
    {"counter_of_three", {1, 3, 2, 2, use_counter(2, 2, 0, ""), memory_of::counter}},
    {"counter_of_two_gpus", {2, 2, 1, 1, use_counter(1, 1, 0, ""), memory_of::counter}},
    {"grid_sync", {1, 2, 2, 2, {}, memory_of::grid_sync}},
    {"grid_sync_of_three", {1, 3, 1, 1, {}, memory_of::grid_sync}},
    {"grid_sync_wide", {1, 3, 2, 2, {}, memory_of::grid_sync}},
    {"reduction_gpus", {2, 1, 2, 2, {}, memory_of::reduction}},
    {"reduction_warps", {2, 1, 3, 2, {}, memory_of::reduction}},
    {"reduction_blocks", {1, 2, 1, 1, {}, memory_of::reduction}},
    {"reduction_wide", {1, 2, 2, 2, {}, memory_of::reduction}},
    {"hop", {2, 1, 2, 2, {}, memory_of::hop}},
    {"of_flags_per_block", gpus_of<peers::flags_per_block>()},
    {"of_flags_of_block_0", gpus_of<peers::flags_of_block_0>()},
    {"of_three_state", gpus_of<peers::three_state>()},
    {"of_counter_per_peer", gpus_of<peers::counter_per_peer>()},
    {"of_sum_to_zero", gpus_of<peers::sum_to_zero>()},
    {"of_sign_alternating", gpus_of<peers::sign_alternating>()},
    {"of_pull", gpus_of<peers::pull>()},
    {"of_flags_unordered", gpus_of<peers::flags_unordered>()},
    {"of_equal_blocks", {2, 2, 1, 1, {}, memory_of::other, flags_of_equal_blocks}},
};

struct sound {
  std::string kernel, shape;
  std::size_t every = 1;
};
void PrintTo(const sound& one, std::ostream* out) { *out << one.kernel << " at " << one.shape; }
std::string name_of(const testing::TestParamInfo<sound>& one) {
  return one.param.kernel + "_at_" + one.param.shape;
}

class backend : public testing::TestWithParam<sound> {};
TEST_P(backend, is_never_stale) {
  const sound& one = GetParam();
  expect_sound(text(one.kernel), one.kernel + "_rounds", shapes.at(one.shape), one.every);
}

// What has answers in seconds. The rest is asked by hand: `ladder`.
const std::vector<sound> quick{
    {"central", "gpus", 12},  // at its one counter of all GPUs the ways are many
    {"central", "blocks", 12},
    {"crowd", "gpus"},
    {"crowd", "blocks"},
    {"dissemination", "gpus"},
    {"dissemination", "blocks"},
    {"hub", "gpus"},
    {"hub", "blocks"},
    {"inbox", "gpus"},
    {"inbox", "blocks"},
    {"relay", "relay_gpus"},
    {"relay", "relay_spread", 3},
    {"host_flags", "host_gpus"},
    {"flags_per_block", "of_flags_per_block"},
    {"flags_of_block_0", "of_flags_of_block_0"},
    {"three_state", "of_three_state"},
    {"counter_per_peer", "of_counter_per_peer"},
    {"sum_to_zero", "of_sum_to_zero"},
    {"sign_alternating", "of_sign_alternating"},
    {"pull_of_peers", "of_pull"},
    {"push", "reduction_gpus"},
    {"pull", "reduction_gpus"},
    {"push_zero", "reduction_gpus", 3},
    {"pull_zero", "reduction_gpus", 3},
    {"grid_counter", "counter"},
    {"grid_counter", "counter_spread"},
    {"grid_relay", "relay_spread", 3},
    {"grid_sync", "grid_sync"},
    {"grid_sync", "grid_sync_of_three"},
};
INSTANTIATE_TEST_SUITE_P(quick, backend, testing::ValuesIn(quick), name_of);

struct weakened_form {
  std::string kernel, shape;
  std::string pattern, instead;  // a regular expression of a whole line
};
void PrintTo(const weakened_form& one, std::ostream* out) { *out << one.kernel << ' ' << one.pattern; }

class weakened_backend : public testing::TestWithParam<weakened_form> {};
TEST_P(weakened_backend, reads_something_stale) {
  const weakened_form& one = GetParam();
  const cpu_time spent;
  const std::string story = story_of_stale_read(weakened(text(one.kernel), one.pattern, one.instead),
                                                one.kernel + "_rounds", shapes.at(one.shape));
  print({.form = one.kernel + "_rounds",
         .twin = one.pattern + (one.instead.empty() ? " left out" : " made " + one.instead),
         .rung = one.shape,
         .events = {},
         .questions = {},
         .answered = {},
         .answer = story.empty() ? "not caught" : "caught"},
        shapes.at(one.shape), spent);
  EXPECT_NE(story, "") << one.kernel << " was not caught at " << one.shape;
  std::cout << one.kernel << ", " << one.pattern << ": " << story;
}

const char* const leaves_out = "";
const std::vector<weakened_form> twins{
    {"central", "gpus", "fence\\.release\\.sys;", leaves_out},
    {"central", "gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"crowd", "gpus", "fence\\.release\\.sys;", leaves_out},
    {"crowd", "gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"dissemination", "gpus", "fence\\.release\\.sys;", leaves_out},
    {"dissemination", "gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"hub", "gpus", "fence\\.release\\.sys;", leaves_out},
    {"hub", "gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"inbox", "gpus", "fence\\.release\\.sys;", leaves_out},
    {"inbox", "gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"relay", "relay_gpus", "fence\\.release\\.sys;", leaves_out},
    {"relay", "relay_gpus", "fence\\.acquire\\.sys;", leaves_out},
    {"relay", "relay_gpus", "st\\.relaxed\\.sys", "st.relaxed.gpu"},
    {"relay", "relay_warps", "bar\\.sync\\s+0;", leaves_out},
    {"relay", "relay_counted", "fence\\.release\\.gpu;", leaves_out},
    {"relay", "relay_counted", "atom\\.relaxed\\.gpu", "atom.relaxed.cta"},
    {"relay", "relay_spread", "fence\\.release\\.gpu;", leaves_out},
    {"relay", "relay_spread_of_three", "fence\\.acquire\\.gpu;", leaves_out},
    {"host_flags", "host_gpus", "fence\\.release\\.sys;", leaves_out},
    {"host_flags", "host_gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"host_flags", "host_gpus", "st\\.relaxed\\.sys", "st.relaxed.gpu"},
    {"host_flags", "host_blocks", "atom\\.acq_rel\\.gpu", "atom.relaxed.gpu"},
    {"host_flags", "host_blocks", "ld\\.acquire\\.gpu", "ld.relaxed.gpu"},
    {"flags_per_block", "of_flags_per_block", "fence\\.release\\.sys;", leaves_out},
    {"flags_per_block", "of_flags_per_block", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"flags_of_block_0", "of_flags_of_block_0", "fence\\.release\\.sys;", leaves_out},
    {"flags_of_block_0", "of_flags_of_block_0", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"three_state", "of_three_state", "fence\\.release\\.sys;", leaves_out},
    {"three_state", "of_three_state", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"counter_per_peer", "of_counter_per_peer", "fence\\.release\\.sys;", leaves_out},
    {"counter_per_peer", "of_counter_per_peer", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"sum_to_zero", "of_sum_to_zero", "fence\\.release\\.sys;", leaves_out},
    {"sum_to_zero", "of_sum_to_zero", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"sign_alternating", "of_sign_alternating", "fence\\.release\\.sys;", leaves_out},
    {"sign_alternating", "of_sign_alternating", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"pull_of_peers", "of_pull", "fence\\.release\\.sys;", leaves_out},
    {"pull_of_peers", "of_pull", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"push", "reduction_gpus", "fence\\.release\\.sys;", leaves_out},
    {"push", "reduction_gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"push", "reduction_gpus", "st\\.relaxed\\.sys", "st.relaxed.gpu"},
    {"pull", "reduction_gpus", "fence\\.release\\.sys;", leaves_out},
    {"pull", "reduction_gpus", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"push_zero", "reduction_blocks", "atom\\.acq_rel\\.gpu", "atom.relaxed.gpu"},
    {"pull_zero", "reduction_blocks", "atom\\.acq_rel\\.gpu", "atom.relaxed.gpu"},
    {"pull_zero", "reduction_blocks", "ld\\.acquire\\.gpu", "ld.relaxed.gpu"},
    {"grid_counter", "counter", "fence\\.release\\.gpu;", leaves_out},
    {"grid_counter", "counter", "fence\\.acquire\\.gpu;", leaves_out},
    {"grid_counter", "counter_spread", "red\\.relaxed\\.gpu", "red.relaxed.cta"},
    {"grid_hub", "blocks", "atom\\.acq_rel\\.gpu", "atom.relaxed.gpu"},
    {"grid_hub", "blocks", "ld\\.acquire\\.gpu", "ld.relaxed.gpu"},
    {"grid_relay", "relay_spread", "fence\\.release\\.gpu;", leaves_out},
    {"grid_relay", "relay_spread", "fence\\.acquire\\.gpu;", leaves_out},
    {"grid_push", "reduction_blocks", "fence\\.release\\.gpu;", leaves_out},
    {"grid_pull", "reduction_blocks", "ld\\.acquire\\.gpu", "ld.relaxed.gpu"},
    {"grid_sync", "grid_sync", "atom\\.add\\.release", "atom.add.relaxed"},
    {"grid_sync", "grid_sync", "ld\\.acquire", "ld.relaxed"},
};
INSTANTIATE_TEST_SUITE_P(twins, weakened_backend, testing::ValuesIn(twins),
                         [](const auto& one) { return fmt::format("{}_{}", one.param.kernel, one.index); });

// What orders less than a barrier says so by facts; here is what each of them lets be read.
class orders_less : public testing::TestWithParam<sound> {};
TEST_P(orders_less, reads_something_stale) {
  const sound& one = GetParam();
  const std::string story =
      story_of_stale_read(text(one.kernel), one.kernel + "_rounds", shapes.at(one.shape));
  EXPECT_NE(story, "") << one.kernel << " is a barrier";
  std::cout << one.kernel << ": " << story;
}
INSTANTIATE_TEST_SUITE_P(hop, orders_less,
                         testing::Values(sound{"hop_release_acquire", "hop"}, sound{"hop_relaxed", "hop"},
                                         sound{"hop_fence_system", "hop"}, sound{"hop_fence_gpu", "hop"},
                                         sound{"hop_arrival", "hop"},
                                         sound{"grid_counter", "counter_of_two_gpus"}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(peers, orders_less,
                         testing::Values(sound{"flags_unordered", "of_flags_unordered"},
                                         sound{"equal_blocks", "of_equal_blocks"},
                                         sound{"data_with_epoch", "reduction_gpus"}),
                         name_of);

// In the first round GPU 1 sends and GPU 0 waits: there the one orders, and the other does not.
TEST(hop, orders_from_who_sends_to_who_waits_if_released_and_acquired) {
  const word_pair asked{{1, 0, 0}, {0, 0, 0}};
  EXPECT_EQ(
      story_behind(1, text("hop_release_acquire"), "hop_release_acquire_rounds", shapes.at("hop"), asked),
      "");
  EXPECT_NE(story_behind(1, text("hop_relaxed"), "hop_relaxed_rounds", shapes.at("hop"), asked), "");
}

// By hand: one step beyond where every twin is caught, and how long each takes; and every pair of what CI
// asks only some pairs of.
class step : public testing::TestWithParam<sound> {};
TEST_P(step, DISABLED_is_never_stale) {
  const sound& one = GetParam();
  climb(text(one.kernel), one.kernel + "_rounds", one.shape, shapes.at(one.shape));
}
const std::vector<sound> steps{
    {"crowd", "more_blocks"},
    {"crowd", "gpus_of_wide_blocks"},
    {"dissemination", "gpus_of_blocks"},
    {"hub", "gpus_of_blocks"},
    {"inbox", "gpus_of_blocks_of_lanes"},
    {"relay", "relay_warps"},
    {"relay", "relay_counted"},
    {"relay", "relay_counted_wide"},
    {"relay", "relay_counted_of_three"},
    {"relay", "relay_spread_of_three"},
    {"relay", "relay_all_spread"},
    {"relay", "relay_all_inboxes"},
    {"host_flags", "host_warps"},
    {"host_flags", "host_blocks"},
    {"host_flags", "host_gpus_of_blocks"},
    {"push", "reduction_warps"},
    {"pull", "reduction_warps"},
    {"push_zero", "reduction_blocks"},
    {"pull_zero", "reduction_blocks"},
    {"push_zero", "reduction_wide"},
    {"pull_zero", "reduction_wide"},
    {"grid_hub", "blocks"},
    {"grid_hub", "more_blocks"},
    {"grid_push", "reduction_blocks"},
    {"grid_pull", "reduction_blocks"},
    {"grid_counter", "counter_of_three"},
    {"grid_relay", "relay_counted"},
    {"grid_relay", "relay_spread_of_three"},
    {"grid_sync", "grid_sync_wide"},
};
INSTANTIATE_TEST_SUITE_P(ladder, step, testing::ValuesIn(steps), name_of);
INSTANTIATE_TEST_SUITE_P(ladder_of_quick, step, testing::ValuesIn(quick), name_of);

}}  // namespace mgsync::test
