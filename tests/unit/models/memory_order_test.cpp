// PTX's memory consistency model against answers that others published.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "src/base/errors.hpp"
#include "src/models/memory_order/litmus.hpp"

namespace mgsync::memory_order { namespace {

constexpr std::chrono::seconds limit{60};

std::vector<litmus_test> known_answers() {
  std::ifstream file(MGSYNC_KNOWN_ANSWERS);
  std::stringstream text;
  text << file.rdbuf();
  return read_litmus(text.str());
}

verdict verdict_of(const std::string& text) {
  return check(read_litmus("asked: allowed\n" + text).at(0).program, limit).verdict;
}

std::string refusal_of(const std::string& text) {
  try {
    read_litmus(text);
  } catch (const usage_error& refused) { return refused.what(); }
  return "";
}

TEST(memory_order, agrees_with_every_known_answer) {
  const std::vector<litmus_test> tests = known_answers();
  const auto forbidden = std::count_if(tests.begin(), tests.end(),
                                       [](const auto& one) { return one.known == verdict::forbidden; });
  EXPECT_GE(tests.size(), 60U);
  EXPECT_GE(forbidden, 30);
  EXPECT_GE(static_cast<std::ptrdiff_t>(tests.size()) - forbidden, 30);
  for (const litmus_test& one : tests) {
    const answer found = check(one.program, limit);
    EXPECT_EQ(found.verdict, one.known) << one.name;
    EXPECT_EQ(found.story.empty(), found.verdict != verdict::allowed) << one.name;
  }
}

// Each barrier of a block meets the others' of the same turn only.
TEST(memory_order, barriers_meet_in_turn) {
  const std::string rounds = "gpu 0 block 0 | bar.sync 0; st.weak [x], 1; bar.sync 0\n";
  EXPECT_EQ(verdict_of(rounds + "gpu 0 block 0 | bar.sync 0; ld.weak a, [x]; bar.sync 0\n ask a == 0"),
            verdict::allowed);
  EXPECT_EQ(verdict_of(rounds + "gpu 0 block 0 | bar.sync 0; ld.weak a, [x]; bar.sync 0\n ask a == 1"),
            verdict::allowed);
  EXPECT_EQ(verdict_of(rounds + "gpu 0 block 0 | bar.sync 0; bar.sync 0; ld.weak a, [x]\n ask a == 0"),
            verdict::forbidden);
}

TEST(memory_order, an_instruction_takes_place_only_under_its_condition) {
  EXPECT_EQ(verdict_of("gpu 0 block 0 | ld.weak a, [x]; @(a == 1) st.weak [y], 1\n ask y == 1"),
            verdict::forbidden);
  EXPECT_EQ(verdict_of("gpu 0 block 0 | ld.weak a, [x]; @(a != 1) st.weak [y], 1\n ask y == 1"),
            verdict::allowed);
}

// A fence of one direction is half of a full one, and each half is needed.
TEST(memory_order, fences_of_one_direction_order_that_one) {
  const auto passed = [](const std::string& first, const std::string& second) {
    return verdict_of("gpu 0 block 0 | st.weak [x], 1; fence." + first +
                      ".sys; st.relaxed.sys [f], 1\n gpu 1 block 0 | ld.relaxed.sys a, [f]; fence." + second +
                      ".sys; ld.weak b, [x]\n ask a == 1 && b == 0");
  };
  EXPECT_EQ(passed("release", "acquire"), verdict::forbidden);
  EXPECT_EQ(passed("acquire", "acquire"), verdict::allowed);
  EXPECT_EQ(passed("release", "release"), verdict::allowed);
}

// What the bulk copy engine reads behind a barrier needs a fence of its own: by PTX's rule for proxies, on
// the reader's side.
TEST(memory_order, an_asynchronous_read_behind_a_flag_needs_a_proxy_fence) {
  const std::string writer = "gpu 0 block 0 | st.weak [x], 1; st.release.sys [f], 1\n";
  EXPECT_EQ(
      verdict_of(writer + "gpu 1 block 0 | ld.acquire.sys a, [f]; ld.async b, [x]\n ask a == 1 && b == 0"),
      verdict::allowed);
  EXPECT_EQ(
      verdict_of(
          writer +
          "gpu 1 block 0 | ld.acquire.sys a, [f]; fence.proxy.async; ld.async b, [x]\n ask a == 1 && b == 0"),
      verdict::forbidden);
}

TEST(memory_order, tells_who_read_what) {
  const auto tests =
      read_litmus("stale: allowed\n gpu 0 block 0 | st.weak [x], 7; st.relaxed.sys [f], 1\n gpu 1 block 2 | "
                  "ld.relaxed.sys a, [f]; ld.weak b, [x]\n"
                  " ask a == 1 && b == 0");
  EXPECT_EQ(
      check(tests.at(0).program, limit).story,
      (std::vector<std::string>{"GPU 1 block 2 thread 0: ld.relaxed.sys a, [f] got 1 from GPU 0 block 0 "
                                "thread 0: st.relaxed.sys [f], 1",
                                "GPU 1 block 2 thread 0: ld.weak b, [x] got 0, what was there at first"}));
}

TEST(memory_order, says_where_a_test_is_wrong_and_what_is_accepted) {
  EXPECT_EQ(refusal_of("gpu 0 block 0 | ld.weak a, [x]"),
            "litmus test, line 1: 'gpu 0 block 0 | ld.weak a, [x]' where 'NAME: forbidden' or 'NAME: "
            "allowed' is expected");
  EXPECT_EQ(refusal_of("t: allowed\ngpu 0 block 0 | ldx a, [x]"),
            "litmus test, line 2: 'ldx a, [x]' where ld, st, atom, red, fence, bar, suld, sust, tld or ldc "
            "is expected");
  EXPECT_EQ(refusal_of("t: allowed\ngpu 0 block 0 | st.weak [x], b"),
            "litmus test, line 2: 'b' where a whole number is expected");
  EXPECT_EQ(refusal_of("t: allowed\ngpu 0 block 0 | ld.weak a, [x]\nask c == 1"),
            "litmus test, line 3: 'c' where a register or an address of the test is expected");
  EXPECT_EQ(refusal_of("t: allowed\ngpu 0 block 0 | ld.weak a, [x]"),
            "litmus test, line 2: '' where a question: 'ask ...' is expected");
}

}}  // namespace mgsync::memory_order
