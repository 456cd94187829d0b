// What a check of host threads sees of memory that keeps what it held before: where a worker wrote it itself,
// and where it pushed it into another one's page. The barrier that its workers pass is sound, so that no
// phase is ever wrong, and nothing but the payloads can show it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "barriers/parts/round_loop/host_loop.hpp"

namespace mgsync::round_loop { namespace {

enum class loses { nothing, what_is_written, what_is_pushed };

// All have come `times` times. Yields, since there may be more threads than cores.
void meet(std::atomic<std::uint32_t>& come, std::uint32_t workers, std::uint32_t times) {
  come.fetch_add(1);
  while (come.load() < workers * times) std::this_thread::yield();
}

struct forgetful_pass {
  std::atomic<std::uint32_t>& come;
  worker_page& mine;
  std::uint32_t workers;
  loses what;
  std::uint32_t round = 0;

  bool operator()() {
    meet(come, workers, 2 * round + 1);
    const std::uint32_t slot = (start_phase + round) & 1;
    if (what == loses::what_is_written) std::memset(mine.payload[slot], 0, sizeof mine.payload[slot]);
    if (what == loses::what_is_pushed) std::memset(mine.pushed[slot], 0, sizeof mine.pushed[slot]);
    meet(come, workers, 2 * round + 2);
    ++round;
    return true;
  }
};

// What each of several workers found in 40 rounds.
std::vector<host_findings> findings_of(std::uint32_t workers, loses what) {
  const auto pages = std::make_unique<worker_page[]>(workers);
  std::vector<worker_page*> all;
  for (std::uint32_t w = 0; w < workers; ++w) all.push_back(&pages[w]);
  std::atomic<std::uint32_t> come{0};
  std::uint32_t abort = 0;
  std::vector<host_findings> found(workers);
  std::vector<std::thread> threads;
  for (std::uint32_t w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      host_run run{};
      run.rounds = 40;
      run.self = w;
      run.workers = workers;
      run.blocks = 1;
      run.seed = 7;
      run.pages = all.data();
      run.yields = 1;
      run.crowd = 1;
      run.abort = &abort;
      forgetful_pass pass{come, pages[w], workers, what};
      host_loop::check(run, pass, found[w]);
    });
  for (auto& t : threads) t.join();
  return found;
}

TEST(host_check, sees_what_is_lost_where_it_was_pushed_and_where_it_was_written) {
  for (const std::uint32_t workers : {2u, 3u, 5u}) {
    for (const auto& found : findings_of(workers, loses::nothing)) {
      EXPECT_EQ(found.violations, 0u);
      EXPECT_EQ(found.observations, 40u * (workers - 1 + 2 * 2 * payload_lines)) << "phases, two payloads";
    }
    for (const auto& found : findings_of(workers, loses::what_is_pushed)) {
      EXPECT_EQ(found.violations, 40u * 2 * payload_lines) << "of one of two payloads all words, no phase";
      EXPECT_STREQ(found.what, "pushed payload");
    }
    for (const auto& found : findings_of(workers, loses::what_is_written)) {
      EXPECT_EQ(found.violations, 40u * 2 * payload_lines);
      EXPECT_STREQ(found.what, "payload");
    }
  }
}

TEST(host_check, nothing_is_pushed_out_of_reach_or_by_one_alone) {
  const auto found = findings_of(1, loses::what_is_pushed);
  EXPECT_EQ(found.front().violations, 0u);
  worker_page here{}, *pages[] = {&here, nullptr};
  host_run run{};
  run.workers = 2;
  run.pages = pages;
  EXPECT_EQ(host_loop::written_by(run, 0, 4).at[0], &here.payload[0]);
  EXPECT_EQ(host_loop::written_by(run, 0, 4).at[1], nullptr);
  EXPECT_EQ(host_loop::written_by(run, 1, 4).at[0], nullptr);
  EXPECT_EQ(host_loop::written_by(run, 1, 4).at[1], nullptr);
}

TEST(host_check, each_pushes_to_another_one_and_to_all_in_turn) {
  for (const unsigned workers : {2u, 3u, 7u, 16u})
    for (std::uint32_t phase = 0; phase < 40; ++phase) {
      std::vector<unsigned> from(workers, workers);
      for (unsigned w = 0; w < workers; ++w) {
        EXPECT_NE(push_target(w, workers, phase), w);
        from[push_target(w, workers, phase)] = w;
      }
      for (const unsigned w : from) EXPECT_LT(w, workers) << "two push to one place";
    }
}

}}  // namespace mgsync::round_loop
