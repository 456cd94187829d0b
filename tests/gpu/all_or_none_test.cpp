// What one process may not, none does: threads stand for processes, over an exchange in memory. Needs no GPU.
#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/errors.hpp"

namespace mgsync { namespace {

constexpr int processes = 3;

// An all-gather that ends by an exception where somebody does not come.
class meeting {
 public:
  std::vector<std::string> gather(int process, const std::string& mine) {
    std::unique_lock lock(guard_);
    auto& given = rounds_.at(static_cast<std::size_t>(rounds_of_.at(static_cast<std::size_t>(process))++));
    given.texts.at(static_cast<std::size_t>(process)) = mine;
    ++given.came;
    all_came_.notify_all();
    if (!all_came_.wait_for(lock, std::chrono::seconds(10), [&] { return given.came == processes; }))
      throw std::runtime_error("somebody did not come");
    return {given.texts.begin(), given.texts.end()};
  }

 private:
  struct round {
    std::array<std::string, processes> texts;
    int came = 0;
  };
  std::mutex guard_;
  std::condition_variable all_came_;
  std::array<round, 4> rounds_;
  std::array<int, processes> rounds_of_{};
};

// What each process got out of it: the kind of what was thrown, and its text.
std::vector<std::string> outcomes(const std::function<void(int)>& f) {
  meeting all;
  std::vector<std::string> got(processes);
  std::vector<std::thread> threads;
  for (int p = 0; p < processes; ++p)
    threads.emplace_back([&, p] {
      gpu_members members{
          {{0, 0}, {1, 1}, {2, 2}}, p, [&all, p](const std::string& mine) { return all.gather(p, mine); }};
      auto& outcome = got[static_cast<std::size_t>(p)];
      try {
        all_or_none(members, [&] { f(p); });
        outcome = "done";
      } catch (const usage_error& e) {
        outcome = std::string("usage: ") + e.what();
      } catch (const timeout_error& e) {
        outcome = std::string("timeout: ") + e.what();
      } catch (const api_error& e) {
        outcome = std::string("api: ") + e.what();
      } catch (const std::exception& e) { outcome = std::string("other: ") + e.what(); }
    });
  for (auto& t : threads) t.join();
  return got;
}

TEST(all_or_none, is_done_by_all_where_nobody_complains) {
  EXPECT_EQ(outcomes([](int) {}), std::vector<std::string>(processes, "done"));
}

TEST(all_or_none, throws_the_same_kind_in_all_and_names_the_process_in_the_others) {
  EXPECT_EQ(outcomes([](int p) {
              if (p == 1) throw usage_error("no blocks");
            }),
            (std::vector<std::string>{"usage: process 1: no blocks", "usage: no blocks",
                                      "usage: process 1: no blocks"}));
  EXPECT_EQ(outcomes([](int p) {
              if (p == 2) throw timeout_error("given up");
            }),
            (std::vector<std::string>{"timeout: process 2: given up", "timeout: process 2: given up",
                                      "timeout: given up"}));
}

TEST(all_or_none, throws_api_error_in_the_others_for_all_else) {
  const auto got = outcomes([](int p) {
    if (p == 0) throw std::runtime_error("");
  });
  EXPECT_EQ(got[0], "other: ");
  for (const int p : {1, 2})
    EXPECT_EQ(got[static_cast<std::size_t>(p)].rfind("api: mgsync: process 0: ", 0), 0u)
        << got[static_cast<std::size_t>(p)];
}

TEST(all_or_none, each_keeps_its_own_where_several_throw) {
  EXPECT_EQ(outcomes([](int p) {
              if (p == 1) throw usage_error("one");
              if (p == 2) throw timeout_error("two");
            }),
            (std::vector<std::string>{"usage: process 1: one", "usage: one", "timeout: two"}));
}

TEST(all_or_none, of_one_process_throws_what_was_thrown_and_asks_nobody) {
  const gpu_members alone{{{0, 0}, {0, 1}}, 0, {}};
  try {
    all_or_none(alone, [] { throw usage_error("no blocks"); });
    FAIL() << "nothing thrown";
  } catch (const usage_error& e) { EXPECT_STREQ(e.what(), "no blocks"); }
}

}}  // namespace mgsync
