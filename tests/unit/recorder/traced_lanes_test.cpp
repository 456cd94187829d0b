// What the lanes of a warp keep of its waits, and how it comes into the trace: threads stand for the lanes,
// and the trace is held against one that counts every round at once.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/library/traced_policy.hpp"

namespace mgsync::test { namespace {

constexpr unsigned gpus = 5, own = 2, rounds = 400, first_count = 1000;
constexpr std::uint32_t first_epoch = 0xffffff00u;  // wraps on the way
using policy = algorithm::traced_policy<algorithm::policy_of_lanes>;
using times = std::vector<std::pair<std::uint64_t, unsigned>>;

// When each GPU comes to each round after its beginning, in ns: seldom one is so late that the wait is
// long, and often several come within one poll.
std::vector<times> made_up() {
  std::mt19937 chance(1);
  std::vector<times> all(rounds);
  for (auto& round : all)
    for (unsigned m = 0; m < gpus; ++m)
      round.push_back({(chance() % 40 + (chance() % 400 == 0 ? 100 : 0)) * 100, m});
  return all;
}

// The round as a poll every 100 ns sees it.
void count(wait_trace& trace, std::uint32_t epoch, const times& round) {
  std::uint64_t last = 0, before = 0, who = 0;
  for (const auto& [when, member] : round) last = std::max(last, when);
  for (const auto& [when, member] : round) {
    if (when == last) who |= std::uint64_t{1} << member;
    else before = std::max(before, when);
  }
  if (last != 0 && who != 1u << own) trace.count(epoch, who, last - before);
}

struct notes {
  wait_trace trace{};
  wait_note note{};
  late_member told[gpus]{};
};

// One lane's passage through all rounds.
void pass(unsigned lane, const multi_grid_handle& handle, const std::vector<times>& plan) {
  warp& here = warp::here();
  warp::lane() = lane;
  policy::addresses seen(handle, 0, lane);
  for (unsigned i = 0; i < rounds; ++i) {
    if (lane == 0) {
      here.epoch = first_epoch + 1 + i;
      here.comes = plan[i];
      for (auto& [when, member] : here.comes) when += here.now;
      here.come();
    }
    __syncwarp();
    std::uint32_t mine = here.epoch;  // of lanes that wait for nobody
    std::uint32_t* const word = lane < gpus ? &here.words[lane] : &mine;
    const policy waits(0, handle, seen);
    const bool quiet = i % 3 == 0;
    EXPECT_EQ(quiet ? waits.await_by<algorithm::polling::quiet>(word, here.epoch, here.epoch)
                    : waits.await(word, here.epoch, here.epoch),
              0u);
    if (i % 111 == 0) waits.tell();  // as a kernel's end does
    __syncwarp();
  }
  policy(0, handle, seen).tell();
}

TEST(traced_lanes, put_into_the_trace_what_every_round_would_have) {
  const auto plan = made_up();
  notes made;
  made.trace.notes = &made.note;
  made.trace.told = made.told;
  made.trace.members = gpus;
  made.trace.rounds = first_count;  // of an earlier kernel: the ring wraps
  wait_trace wanted{};
  wanted.rounds = first_count;
  for (unsigned i = 0; i < rounds; ++i) count(wanted, first_epoch + 1 + i, plan[i]);
  record_of_lanes record{&made.trace, 0};
  const multi_grid_handle handle{gpus, own, &record};
  for (auto& word : warp::here().words) word = first_epoch;
  std::vector<std::thread> lanes;
  for (unsigned l = 0; l < 32; ++l) lanes.emplace_back(pass, l, std::cref(handle), std::cref(plan));
  for (auto& lane : lanes) lane.join();

  ASSERT_EQ(made.trace.rounds, wanted.rounds);
  EXPECT_GT(wanted.rounds, first_count + rounds / 2) << "or little was tried";
  for (unsigned i = 0; i < wait_trace::most_rounds; ++i) {
    const auto &seen = made.trace.last[i], &would = wanted.last[i];
    EXPECT_EQ(seen.epoch, would.epoch) << i;
    EXPECT_EQ(seen.members, would.members) << i;
    EXPECT_EQ(seen.ns, would.ns) << i;
  }
  for (unsigned m = 0; m < gpus; ++m) {
    const auto &seen = made.told[m], &would = wanted.late[m];
    EXPECT_EQ(seen.times, would.times) << m;
    EXPECT_EQ(seen.worst_ns, would.worst_ns) << m;
    for (unsigned k = 0; k < late_member::most_bits; ++k) EXPECT_EQ(seen.by[k], would.by[k]) << m << " " << k;
  }
  EXPECT_EQ(made.note.state, wait_note::passed) << "the last long wait";
  EXPECT_NE(made.note.missing, 0u);
}

}}  // namespace mgsync::test
