// Of the library's barrier as it ships, in PTX: is there an execution, by PTX's memory model, in which a
// thread that passed reads what another wrote a round ago, or a round ahead? None of the library's; one of
// each of its weakened twins, which are edits of the same text. docs/memory-order.md says what is asked and
// assumed.
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/order/answers.hpp"

namespace mgsync::test { namespace {

using algorithm::use_counter;
using algorithm::use_relay;
using memory_order::verdict;

// GPUs x blocks x threads, as the library waits there, or as it does with more blocks.
const std::map<std::string, grids> shapes{
    {"one_block", {2, 1, 2, 2, use_relay(1, 1, "")}},
    {"two_warps", {2, 1, 3, 2, use_relay(1, 1, "")}},
    {"one_gpu", {1, 2, 2, 2, use_counter(1, 1, 0, "")}},
    {"one_gpu_wide", {1, 2, 2, 2, use_counter(2, 2, 0, "")}},
    {"counted", {1, 2, 2, 2, use_relay(1, 2, "")}},
    {"spread", {1, 2, 2, 2, use_relay(2, 1, "")}},
    // Whoever speaks hears of the others by its own later fence; a third block does not.
    {"counted_of_three", {1, 3, 1, 1, use_relay(1, 1, "")}},
    {"counted_of_three_wide", {1, 3, 2, 2, use_relay(1, 2, "")}},
    {"spread_of_three", {1, 3, 2, 2, use_relay(2, 1, "")}},
    {"all", {2, 2, 2, 2, use_relay(1, 1, "")}},
    {"all_spread", {2, 2, 2, 2, use_relay(2, 1, "")}},
    {"all_spread_of_two_warps", {2, 2, 3, 2, use_relay(2, 1, "")}},
    {"all_of_three", {2, 3, 2, 2, use_relay(2, 1, "")}},
};

struct shipped {
  int architecture;
  std::string kernel, shape;
  std::size_t every = 1;
};
void PrintTo(const shipped& one, std::ostream* out) {
  *out << one.kernel << " of " << one.architecture << " at " << one.shape;
}

class what_ships : public testing::TestWithParam<shipped> {};
TEST_P(what_ships, is_never_stale) {
  const shipped& one = GetParam();
  expect_sound(text_of("two_rounds", one.architecture), one.kernel, shapes.at(one.shape), one.every);
}

std::vector<shipped> small_shapes() {
  std::vector<shipped> all;
  for (const int architecture : {80, 90, 100})
    for (const char* kernel : {"sync", "arrive_and_wait", "sync_with_word"})
      for (const char* shape : {"one_block", "two_warps", "one_gpu", "one_gpu_wide", "spread"})
        all.push_back({architecture, kernel, shape, std::string(shape) == "spread" ? 3U : 1U});
  // Whose answer decides between ways: more to ask.
  for (const char* kernel : {"sync", "arrive_and_wait"}) all.push_back({90, kernel, "counted", 2});
  all.push_back({80, "sync", "counted", 3});
  all.push_back({100, "sync", "counted", 3});
  return all;
}
std::string case_name(const testing::TestParamInfo<shipped>& one) {
  return fmt::format("{}_{}_{}", one.param.kernel, one.param.architecture, one.param.shape);
}
INSTANTIATE_TEST_SUITE_P(order, what_ships, testing::ValuesIn(small_shapes()), case_name);
// Two GPUs of two blocks of two threads: every eleventh pair, and all of them by hand (docs/memory-order.md).
INSTANTIATE_TEST_SUITE_P(order_of_all, what_ships, testing::Values(shipped{90, "sync", "all", 11}),
                         case_name);

// One warp of each block, some warps that meet at a barrier of the block's, and looks in place of a wait.
std::vector<shipped> other_forms() {
  std::vector<shipped> all;
  for (const char* shape : {"one_block", "one_gpu", "spread"}) all.push_back({90, "one_warp", shape});
  for (const char* shape : {"one_block", "one_gpu"}) all.push_back({90, "try_wait", shape});
  for (const char* shape : {"one_block", "two_warps", "one_gpu"}) all.push_back({90, "sync_reduce", shape});
  all.push_back({90, "sync_reduce", "all", 23});
  all.push_back({80, "sync_reduce", "one_block"});
  all.push_back({100, "sync_reduce", "one_gpu"});
  all.push_back({80, "one_warp", "one_block"});
  all.push_back({100, "try_wait", "one_block"});
  return all;
}
INSTANTIATE_TEST_SUITE_P(other_forms, what_ships, testing::ValuesIn(other_forms()), case_name);

// The reader knows a block's barrier number 0, of all of its threads: here all of them take part.
TEST(some_warps, order_as_a_block_does) {
  for (const int architecture : {80, 90}) {
    auto text =
        weakened(text_of("two_rounds", architecture, "some_warps"), "barrier\\.sync 1, 64;", "bar.sync 0;");
    text = weakened(text, "barrier\\.red\\.or\\.pred out, 1, 64, in;", "bar.red.or.pred out, 0, in;");
    for (const char* shape : {"two_warps", "one_gpu"}) expect_sound(text, "some_warps", shapes.at(shape));
  }
}

// What orders less than a barrier by its name: all come, and something stale can be read behind it.
class orders_less : public testing::TestWithParam<shipped> {};
TEST_P(orders_less, all_come_and_something_stale_is_read) {
  const shipped& one = GetParam();
  const std::string text = text_of("two_rounds", one.architecture);
  expect_passed(text, one.kernel, shapes.at(one.shape));
  const std::string story = story_of_stale_read(text, one.kernel, shapes.at(one.shape));
  EXPECT_NE(story, "") << "orders more than it says";
  std::cout << story;
}
std::vector<shipped> what_orders_less() {
  std::vector<shipped> all;
  for (const char* kernel : {"sync_none", "sync_release", "sync_acquire"})
    for (const char* shape : {"one_block", "one_gpu", "counted", "spread"})
      all.push_back({90, kernel, shape});
  for (const int architecture : {80, 100})
    for (const char* kernel : {"sync_none", "sync_acquire"})
      all.push_back({architecture, kernel, "one_block"});
  return all;
}
INSTANTIATE_TEST_SUITE_P(order, orders_less, testing::ValuesIn(what_orders_less()), case_name);

// One round, in which the last block of the first GPU releases and all acquire.
struct mixed {
  std::string shape;
  word_pair asked;
  bool stale = false;
  int architecture = 90;
};
void PrintTo(const mixed& one, std::ostream* out) { *out << one.shape; }
std::string mixed_text(int architecture) { return text_of("two_rounds", architecture, "sync_mixed"); }
class some_release : public testing::TestWithParam<mixed> {};
TEST_P(some_release, is_what_all_see_and_no_more) {
  const mixed& one = GetParam();
  const std::string text = mixed_text(one.architecture);
  if (!one.stale) expect_passed(text, "sync_mixed", shapes.at(one.shape));
  const std::string story = story_behind(1, text, "sync_mixed", shapes.at(one.shape), one.asked);
  EXPECT_EQ(!story.empty(), one.stale) << story;
}
const std::vector<mixed> mixed_cases{
    {"one_block", {{0, 0, 0}, {1, 0, 0}}},
    {"one_block", {{0, 0, 1}, {1, 0, 1}}},
    {"one_block", {{0, 0, 0}, {1, 0, 1}}, false, 80},
    {"one_block", {{0, 0, 0}, {1, 0, 1}}, false, 100},
    {"one_block", {{1, 0, 0}, {0, 0, 0}}, true},
    {"one_gpu", {{0, 1, 0}, {0, 0, 1}}},
    {"one_gpu", {{0, 0, 0}, {0, 1, 1}}, true},
    {"counted", {{0, 1, 0}, {0, 0, 1}}},
    {"counted", {{0, 1, 1}, {0, 0, 0}}, false, 80},
    {"counted", {{0, 0, 0}, {0, 1, 0}}, true},
    {"counted_of_three", {{0, 2, 0}, {0, 0, 0}}},
    {"spread", {{0, 1, 0}, {0, 0, 1}}},
    {"spread", {{0, 1, 1}, {0, 0, 0}}, false, 80},
    {"spread_of_three", {{0, 1, 0}, {0, 0, 0}}, true},  // of two, what the speaker wrote comes along
    {"spread_of_three", {{0, 2, 1}, {0, 1, 0}}},
    {"all", {{0, 1, 0}, {1, 0, 1}}},
    {"all_spread", {{0, 1, 1}, {1, 1, 0}}},
};
INSTANTIATE_TEST_SUITE_P(order, some_release, testing::ValuesIn(mixed_cases));

// Of two GPUs of two blocks, of which another than the one that releases speaks.
TEST(some_release_twins, are_caught) {
  const std::map<std::string, std::pair<std::string, std::string>> twins{
      {"does_not_say_so", {"-65535;", "1;"}},
      {"speaks_without_release", {"fence\\.release\\.sys;", ""}},
      {"arrives_without_release", {"fence\\.release\\.gpu;", ""}},
      {"speaks_of_counters_without_acquire", {"fence\\.acquire\\.gpu;", ""}},
      {"passes_without_acquire", {"fence\\.acquire\\.sys;", ""}}};
  const word_pair asked{{0, 1, 1}, {1, 1, 0}};
  for (const auto& [name, change] : twins) {
    const std::string text = weakened(mixed_text(90), change.first, change.second);
    EXPECT_NE(story_behind(1, text, "sync_mixed", shapes.at("all_spread"), asked), "") << name;
  }
}

// A block that releases adds less to its counter than others, and takes that back behind its wait.
std::string takes_back_at_once(const std::string& text) {
  std::smatch added;
  EXPECT_TRUE(std::regex_search(text, added, std::regex("mov\\.[bu]32\\s+(%r\\d+), -65535;")));
  const std::string sum = added[1];
  return weakened(text, "(red\\.relaxed\\.gpu\\.global\\.add\\.u32 \\[%rd\\d+\\], )" + sum + ";",
                  "$1" + sum + "; { .reg .b32 back; sub.s32 back, 1, " + sum + "; $1back; }");
}
TEST(some_release_twins, that_takes_back_before_all_have_come_is_caught) {
  const std::string text = takes_back_at_once(mixed_text(90));
  EXPECT_NE(story_behind(1, text, "sync_mixed", shapes.at("all_spread"), {{0, 1, 1}, {1, 1, 0}}), "");
}
// Behind the round, a counter has to hold what it holds behind any other.
verdict other_sums(const std::string& text, const grids& shape) {
  const auto kernels = ptx::read_kernels(text);
  memory_order::program asked = completeness_of(ptx::kernel_named(kernels, "sync_mixed"), shape);
  asked.question = {.what = memory_order::condition::kind::any_of};
  for (unsigned k = 0; k < shape.choice.relay.counters; ++k) {
    const auto found = std::find_if(asked.addresses.begin(), asked.addresses.end(), [&](const auto& one) {
      return one.name == fmt::format("counter {} of GPU 0", k);
    });
    if (found == asked.addresses.end()) continue;  // that of one block alone
    const std::int64_t sum = asked.start[static_cast<std::size_t>(found->memory)] +
                             algorithm::share_of(k, shape.blocks, shape.choice.relay.counters);
    const memory_order::condition right{
        .what = memory_order::condition::kind::memory_is, .index = found->memory, .value = sum};
    asked.question.parts.push_back({.what = memory_order::condition::kind::negation, .parts = {right}});
  }
  EXPECT_FALSE(asked.question.parts.empty());
  return memory_order::check(asked, limit).verdict;
}
TEST(sync_mixed, takes_back_what_it_said_and_no_more) {
  const std::string text = mixed_text(90);
  for (const char* shape : {"counted_of_three", "spread", "spread_of_three", "all_spread"})
    EXPECT_EQ(other_sums(text, shapes.at(shape)), verdict::forbidden) << shape;
  for (const char* wrong : {"0", "65535", "131072"})
    EXPECT_EQ(
        other_sums(weakened(text, "(mov\\.[bu]32\\s+%r\\d+), 65536;", std::string("$1, ") + wrong + ";"),
                   shapes.at("spread")),
        verdict::allowed)
        << wrong;
}
// It adds that behind its polls, on which the addition depends: were it not so, whoever looks at the counter
// could take it for a round in which nobody releases.
TEST(sync_mixed, takes_back_nothing_ahead_of_what_it_waits_for) {
  const auto kernels = ptx::read_kernels(mixed_text(90));
  memory_order::program asked = asked_of(ptx::kernel_named(kernels, "sync_mixed"), shapes.at("all_spread"),
                                         {{0, 1, 1}, {1, 1, 0}}, {}, 1);
  EXPECT_EQ(memory_order::check(asked, limit).verdict, verdict::forbidden);
  for (auto& one : asked.events) one.depends.clear();
  EXPECT_EQ(memory_order::check(asked, limit).verdict, verdict::allowed);
}

// The threads of the recorded fences that release.
std::vector<int> threads_that_release(const std::string& kernel, const grids& shape) {
  const auto kernels = ptx::read_kernels(text_of("two_rounds", 90));
  std::vector<int> threads;
  for (const auto& event : completeness_of(ptx::kernel_named(kernels, kernel), shape).events)
    if (event.kind == memory_order::event_kind::fence && event.text.find("acquire") == std::string::npos)
      threads.push_back(event.thread);
  return threads;
}
TEST(sync_mixed, has_no_fence_that_releases_where_nobody_does) {
  for (const char* shape : {"one_block", "one_gpu", "counted", "spread", "all", "all_spread"}) {
    EXPECT_TRUE(threads_that_release("sync_mixed_quiet", shapes.at(shape)).empty()) << shape;
    const auto with_one = threads_that_release("sync_mixed", shapes.at(shape));
    EXPECT_FALSE(with_one.empty()) << shape;
    const grids& g = shapes.at(shape);
    for (const int thread : with_one)
      EXPECT_LT(thread, static_cast<int>(g.blocks * g.threads)) << shape << ": GPU 1 has nothing to release";
  }
}

TEST(order_none, has_no_fence_of_any_scope) {
  for (const int architecture : {90, 100}) {
    const auto text = text_of("two_rounds", architecture, "sync_none");
    EXPECT_EQ(text.find("fence"), std::string::npos);
    EXPECT_EQ(text.find(".acq"), std::string::npos);
  }
}
TEST(order_acquire, has_no_fence_that_releases) {
  const auto text = text_of("two_rounds", 90, "sync_acquire");
  EXPECT_EQ(text.find("fence.release"), std::string::npos);
  EXPECT_EQ(text.find("fence.acq_rel"), std::string::npos);
}
// The model knows the generic proxy only; the other's fences stand on both sides of each barrier.
TEST(proxy_async, adds_its_fences_to_a_barrier_that_orders_all) {
  const auto text = text_of("two_rounds", 90, "sync_async");
  const std::string fence = "fence.proxy.async.global;";
  unsigned fences = 0;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1)) ++fences;
  EXPECT_EQ(fences, 4U);
  expect_sound(weakened(text_of("two_rounds", 90), "fence\\.proxy\\.async\\.global;", ""), "sync_async",
               shapes.at("one_block"));
}

// A kernel of what ships with some of its text replaced.
struct twin {
  std::string name;
  int architecture;
  std::string kernel, shape;
  std::string pattern, instead;  // a regular expression of a whole line
};
void PrintTo(const twin& one, std::ostream* out) { *out << one.name; }

class weakened_twin : public testing::TestWithParam<twin> {};
TEST_P(weakened_twin, reads_something_stale) {
  const twin& one = GetParam();
  const cpu_time spent;
  const std::string changed = weakened(text_of("two_rounds", one.architecture), one.pattern, one.instead);
  const std::string story = story_of_stale_read(changed, one.kernel, shapes.at(one.shape));
  print({.form = one.kernel,
         .architecture = one.architecture,
         .twin = one.name,
         .rung = one.shape,
         .events = {},
         .questions = {},
         .answered = {},
         .answer = story.empty() ? "not caught" : "caught"},
        shapes.at(one.shape), spent);
  EXPECT_NE(story, "") << one.name << " was not caught";
  std::cout << one.name << ": " << story;
}

const std::vector<twin> twins{
    {"speaks_without_release", 90, "sync", "one_block", "fence\\.release\\.sys;", ""},
    {"speaks_to_its_gpu_only", 90, "sync", "one_block", "fence\\.release\\.sys", "fence.release.gpu"},
    {"passes_without_acquire", 90, "sync", "one_block", "fence\\.acquire\\.sys;", ""},
    {"acquires_of_its_gpu_only", 90, "sync", "one_block", "fence\\.acquire\\.sys", "fence.acquire.gpu"},
    {"releases_where_it_should_acquire", 90, "sync", "one_block", "fence\\.acquire\\.sys",
     "fence.release.sys"},
    {"tells_its_gpu_only", 90, "sync", "one_block", "st\\.relaxed\\.sys", "st.relaxed.gpu"},
    {"tells_by_an_ordinary_store", 90, "sync", "one_block", "st\\.relaxed\\.sys", "st.weak"},
    {"polls_its_gpu_only", 90, "sync", "one_block", "ld\\.relaxed\\.sys", "ld.relaxed.gpu"},
    {"polls_by_ordinary_loads", 90, "sync", "one_block", "ld\\.relaxed\\.sys", "ld.weak"},
    {"passes_when_one_gpu_is_there", 90, "sync", "one_block", "vote\\.sync\\.all", "vote.sync.any"},
    {"passes_a_round_early", 90, "sync", "one_block", "(setp\\.gt\\.s32\\s+%p\\d+, %r\\d+), -1;", "$1, -2;"},
    {"speaks_before_its_block_came", 90, "sync", "one_block", "bar\\.sync\\s+0;", ""},
    {"warp_speaks_before_another_came", 90, "sync_with_word", "two_warps", "bar\\.sync\\s+0;",
     "bar.warp.sync -1;"},
    {"leaves_by_a_vote", 90, "sync", "one_block", "bar\\.red\\.or\\.pred(\\s+%p\\d+), 0, (%p\\d+)",
     "vote.sync.any.pred$1, $2, -1"},
    {"warp_leaves_by_a_vote", 90, "one_warp", "one_block", "bar\\.warp\\.sync(\\s+)-1;", ""},
    {"looks_without_acquire", 90, "try_wait", "one_block", "fence\\.acquire\\.sys;", ""},
    {"carries_without_release", 90, "sync_reduce", "one_block", "fence\\.release\\.sys;", ""},
    {"carries_to_its_gpu_only", 90, "sync_reduce", "one_block", "st\\.relaxed\\.sys", "st.relaxed.gpu"},
    {"takes_values_without_acquire", 90, "sync_reduce", "one_block", "fence\\.acquire\\.sys;", ""},
    {"takes_values_by_ordinary_loads", 90, "sync_reduce", "one_block", "ld\\.relaxed\\.sys", "ld.weak"},
    {"puts_values_without_release", 90, "sync_reduce", "one_gpu", "fence\\.release\\.gpu;", ""},
    {"combines_without_acquire", 90, "sync_reduce", "all", "fence\\.acquire\\.sys;(\\s+)bar\\.warp",
     "$1bar.warp"},
    {"carries_behind_a_vote", 90, "sync_reduce", "all", "bar\\.warp\\.sync(\\s+)-1;", ""},
    {"arrives_without_release", 90, "sync", "one_gpu", "fence\\.release\\.gpu;", ""},
    {"arrives_in_its_block_only", 90, "sync", "one_gpu", "red\\.relaxed\\.gpu", "red.relaxed.cta"},
    {"passes_a_gpu_without_acquire", 90, "sync", "one_gpu", "fence\\.acquire\\.sys;", ""},
    {"counts_in_its_block_only", 90, "sync", "counted", "atom\\.relaxed\\.gpu", "atom.relaxed.cta"},
    {"speaks_without_acquire_of_the_counter", 90, "sync", "counted_of_three", "fence\\.acquire\\.gpu;", ""},
    {"votes_in_place_of_the_warps_barrier", 90, "sync", "counted_of_three_wide", "bar\\.warp\\.sync(\\s+)-1;",
     ""},
    {"speaks_of_counters_without_acquire", 90, "sync", "spread_of_three", "fence\\.acquire\\.gpu;", ""},
    {"full_fences_of_its_gpu_only", 80, "sync", "one_block", "fence\\.acq_rel\\.sys", "fence.acq_rel.gpu"},
    {"polls_without_acquire", 80, "sync", "one_block", "ld\\.acquire\\.sys", "ld.relaxed.sys"},
    {"counts_without_acquire", 80, "sync", "counted_of_three_wide", "atom\\.acquire\\.gpu",
     "atom.relaxed.gpu"},
    {"next_ones_release_of_its_gpu_only", 100, "sync", "one_block", "fence\\.release\\.sys",
     "fence.release.gpu"},
};
INSTANTIATE_TEST_SUITE_P(twins, weakened_twin, testing::ValuesIn(twins),
                         [](const auto& one) { return one.param.name; });

// What recordings leave out hides nothing: with it the answers are the same, of what is sound and of what is
// not.
TEST(recordings, hide_nothing_in_polls_that_fail) {
  expect_sound(text_of("two_rounds", 90), "sync", shapes.at("one_block"), 2, {.failed_polls = 1});
  expect_sound(text_of("two_rounds", 80), "sync", shapes.at("one_gpu"), 3, {.failed_polls = 1});
}
TEST(recordings, hide_nothing_where_ways_meet_or_in_words_of_one_block) {
  for (const char* shape : {"one_block", "one_gpu"})
    expect_sound(text_of("two_rounds", 90), "sync", shapes.at(shape), 3, {.whole = true});
  const std::string alone = "counted_of_three";  // each block once more with each answer of its counter
  const auto kernels = ptx::read_kernels(text_of("two_rounds", 90));
  const ptx::kernel& code = ptx::kernel_named(kernels, "sync");
  const word_pair asked{{0, 0, 0}, {0, 1, 0}};
  EXPECT_EQ(memory_order::check(asked_of(code, shapes.at(alone), asked, {.whole = true}), limit).verdict,
            verdict::forbidden);
  const auto weaker = ptx::read_kernels(weakened(text_of("two_rounds", 90), "fence\\.acquire\\.gpu;", ""));
  EXPECT_EQ(memory_order::check(
                asked_of(ptx::kernel_named(weaker, "sync"), shapes.at(alone), asked, {.whole = true}), limit)
                .verdict,
            verdict::allowed);
}

// What stands between two fences needs no order of its own: the reset of the counter where blocks arrive
// ahead of their wait.
TEST(twins_that_are_sound, a_reset_by_an_ordinary_store) {
  const auto changed = weakened(text_of("two_rounds", 90), "st\\.relaxed\\.gpu", "st.weak");
  expect_sound(changed, "arrive_and_wait", shapes.at("spread"), 2);
}

// By hand: every pair of every shape, and how long each rung takes.
class rung : public testing::TestWithParam<std::string> {};
TEST_P(rung, DISABLED_all_pairs) {
  climb(text_of("two_rounds", 90), "sync", GetParam(), shapes.at(GetParam()));
}
std::vector<std::string> names_of_shapes() {
  std::vector<std::string> all;
  for (const auto& [name, shape] : shapes) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(ladder, rung, testing::ValuesIn(names_of_shapes()),
                         [](const auto& one) { return one.param; });

}}  // namespace mgsync::test
