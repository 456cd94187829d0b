// Planted delays and hangs of threads, as their notes tell them to whoever reads the files.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include <gtest/gtest.h>

#include "src/base/errors.hpp"
#include "tests/unit/recorder/traced_crew.hpp"

namespace mgsync::test { namespace {

using namespace std::chrono_literals;

template <class Condition>
bool holds_in_time(Condition holds) {
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// The late block waits until all others wait for its member alone, so that a busy machine makes nobody later.
TEST(delays, are_booked_to_who_came_last) {
  const own_folder folder;
  constexpr unsigned members = 3, blocks = 2;
  traced_crew crew(members, blocks);
  std::vector<traced_crew::lateness> plan;
  for (unsigned i = 0; i < 30; ++i)
    plan.push_back({i * 7 % members, i % blocks, std::chrono::milliseconds(1 + i % 5)});
  crew.begin(plan);
  crew.join();
  for (unsigned observer = 0; observer < members; ++observer) {
    const wait_trace& its = crew.trace(observer);
    std::vector<unsigned> times(members);
    ASSERT_EQ(its.rounds, 20u) << "seen by " << observer;
    for (unsigned i = 0; i < its.rounds; ++i) {
      const auto& round = its.last[i];
      const auto& late = plan[round.epoch - traced_crew::start - 1];
      EXPECT_EQ(round.members, std::uint64_t{1} << late.member);
      EXPECT_GE(round.ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(late.by).count()));
      ++times[late.member];
    }
    for (unsigned m = 0; m < members; ++m) {
      EXPECT_EQ(its.late[m].times, times[m]);
      EXPECT_EQ(its.told[m].times, times[m]) << "what others may read";
      unsigned in_all = 0;
      for (const unsigned n : its.late[m].by) in_all += n;
      EXPECT_EQ(in_all, times[m]);
      if (m != observer) { EXPECT_GE(its.late[m].worst_ns, 5'000'000u); }
    }
  }
  EXPECT_TRUE(crew.waits().at(0).absent.empty());
}

// Not from when the others began to wait: the last but one came 20 ms behind that.
TEST(delays, count_from_the_last_but_one) {
  const own_folder folder;
  traced_crew crew(3, 1);
  crew.begin({{0, 0, 1ms, true, 20ms}});
  crew.join();
  const wait_trace& third = crew.trace(2);
  ASSERT_EQ(third.rounds, 1u);
  EXPECT_EQ(third.last[0].members, 1u);
  EXPECT_LE(third.last[0].ns + 20'000'000u, third.notes[0].seen_ns - third.notes[0].since_ns);
}

TEST(delays, of_two_at_once_are_nobodys) {
  wait_trace trace{};
  trace.count(7, 0b110, 5000);
  trace.count(8, 0b100, 3000);
  EXPECT_EQ(trace.rounds, 2u);
  EXPECT_EQ(trace.last[0].members, 0b110u);
  EXPECT_EQ(trace.late[1].times, 0u);
  EXPECT_EQ(trace.late[2].times, 1u);
  EXPECT_EQ(trace.late[2].worst_epoch, 8u);
  EXPECT_EQ(trace.late[2].by[11], 1u) << "2048 to 4095 ns";
}

TEST(delays, are_counted_by_powers_of_two) {
  const auto bits = late_member::bits_of;
  EXPECT_EQ(bits(0), 0u);
  for (unsigned k = 1; k < late_member::most_bits; ++k) {
    EXPECT_EQ(bits((std::uint64_t{1} << k) - 1), k - 1);
    EXPECT_EQ(bits(std::uint64_t{1} << k), k);
  }
  EXPECT_EQ(bits(~std::uint64_t{0}), late_member::most_bits - 1) << "the last has all that is longer";
}

TEST(hangs, are_named_in_100_of_100) {
  std::mt19937 chance(42);
  for (int i = 0; i < 100; ++i) {
    const own_folder folder;
    const unsigned members = 2 + chance() % 3, blocks = 1 + chance() % 2, rounds = 1 + chance() % 20;
    const unsigned member = chance() % members, block = chance() % blocks;
    traced_crew crew(members, blocks);
    // Nobody is late but in the last round.
    std::vector<traced_crew::lateness> plan(rounds, {members, 0, 0ms});
    plan.back() = {member, block, 0ms, false};
    crew.begin(plan);
    const auto is_named = [&] {
      const auto all = crew.waits();
      return all.size() == 1 && all[0].round == rounds && all[0].absent.size() == 1 &&
             all[0].absent[0].rank == member && all[0].absent[0].process == member &&
             all[0].absent[0].blocks == std::vector<unsigned>{block} &&
             all[0].waiting == members * blocks - 1;
    };
    EXPECT_TRUE(holds_in_time(is_named)) << "hang " << i;
    EXPECT_FALSE(crew.waits().at(0).given_up);
    crew.end();
    EXPECT_TRUE(is_named()) << "hang " << i << ", after it was given up";
    EXPECT_TRUE(crew.waits().at(0).given_up);
  }
}

TEST(files, of_a_process_that_is_missing_leave_its_gpu_unheard_of) {
  const own_folder folder;
  wait_file_head head{};
  head.group[0] = 'u';
  head.processes = head.gpus = 3;
  head.blocks = 2;
  const wait_file only(head, {{1, 7, 1}});
  std::vector<wait_file> files;
  for (const auto& name : wait_files(wait_folder())) files.emplace_back(name);
  const auto all = waits_of(files);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].unheard, (std::vector<std::uint32_t>{0, 2}));
}

TEST(files, go_with_their_owner_unless_they_are_kept) {
  const own_folder folder;
  wait_file_head head{};
  head.gpus = head.blocks = head.processes = 1;
  { const wait_file gone(head, {{0, 0, 0}}); }
  EXPECT_TRUE(wait_files(wait_folder()).empty());
  {
    wait_file kept(head, {{0, 0, 0}});
    kept.keep();
    EXPECT_TRUE(wait_file(wait_files(wait_folder()).at(0)).has_owner());
  }
  ASSERT_EQ(wait_files(wait_folder()).size(), 1u);
  const std::string left = wait_files(wait_folder()).front();
  EXPECT_FALSE(wait_file(left).has_owner());
  const wait_file next(head, {{0, 0, 0}});  // makes room
  ASSERT_EQ(wait_files(wait_folder()).size(), 1u);
  EXPECT_NE(wait_files(wait_folder()).front(), left);
}

TEST(files, of_something_else_are_refused) {
  const own_folder folder;
  const std::string name = wait_folder() + "/mgsync-who-none";
  for (const std::size_t bytes : {0u, 10u, 4096u}) {
    std::FILE* const file = std::fopen(name.c_str(), "w");
    ASSERT_NE(file, nullptr);
    for (std::size_t i = 0; i < bytes; ++i) std::fputc('x', file);
    std::fclose(file);
    EXPECT_THROW(wait_file{name}, usage_error) << bytes << " bytes";
  }
}

// In the last of so many rounds one block does not come; then for ever.
int hang(unsigned members, unsigned blocks, unsigned rounds, unsigned member, unsigned block) {
  traced_crew crew(members, blocks);
  std::vector<traced_crew::lateness> plan(rounds, {members, 0, 0ms});
  plan.back() = {member, block, 0ms, false};
  crew.begin(plan);
  crew.join();
  return 1;
}

}}  // namespace mgsync::test

int main(int count, char** words) {
  const auto number = [&](int i) { return static_cast<unsigned>(std::atoi(words[i])); };
  if (count == 7 && std::string_view(words[1]) == "hang")
    return mgsync::test::hang(number(2), number(3), number(4), number(5), number(6));
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
