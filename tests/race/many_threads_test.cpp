// A relay among more members than a line has words, on as many threads: up to 72 members. ThreadSanitizer
// (preset tsan) must stay silent; with `weaken WHAT` one ordering is relaxed, and it must report the race.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/race/many_relay.hpp"
#include "tests/race/thread_policy.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;

constexpr std::uint32_t start = 0xfffffff8u;  // the epochs wrap
constexpr unsigned words_of_a_line = line_bytes / sizeof(std::uint32_t);

// Returns how many values were wrong.
unsigned run(unsigned members, unsigned blocks, unsigned rounds, weakness weakened) {
  const relay_layout lines{};
  std::vector<std::vector<std::uint32_t>> memory(members,
                                                 std::vector<std::uint32_t>(lines.lines() * words_of_a_line));
  std::vector<std::uint32_t*> parts;
  for (auto& part : memory) {
    parts.push_back(part.data());
    part[lines.counter(0) * words_of_a_line] = counter_start(blocks, start);
    for (unsigned from = 0; from < members; ++from)
      part[(lines.inbox(0) + lines.lines_ahead(from, words_of_a_line)) * words_of_a_line +
           from % words_of_a_line] = start;
  }
  const unsigned workers = members * blocks;
  std::vector<std::uint32_t> data(2 * workers);
  std::vector<unsigned> wrong(workers);
  const auto work = [&](unsigned w) {
    host_lines lines_of_all{parts.data()};
    const thread_policy policy(weakened);
    many_relay<72, words_of_a_line>::relay<thread_policy, host_lines> barrier(
        policy, lines_of_all, position{w / blocks, members, w % blocks, blocks}, relay_shape{1, 1});
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      std::uint32_t* const slot = data.data() + round % 2 * workers;
      slot[w] = round;
      if (!barrier.arrive_and_wait(start + round)) ++wrong[w];
      for (unsigned other = 0; other < workers; ++other)
        if (slot[other] != round) ++wrong[w];
    }
  };
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w) threads.emplace_back(work, w);
  for (auto& t : threads) t.join();
  return std::accumulate(wrong.begin(), wrong.end(), 0u);
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "weaken") {
    const auto which = std::find(weakness_names.begin(), weakness_names.end(), std::string_view(words[2]));
    if (which == weakness_names.end()) return 2;
    return run(33, 2, 4, static_cast<weakness>(which - weakness_names.begin())) == 0 ? 0 : 1;
  }
  int failures = 0;
  for (const auto& [members, blocks] :
       {std::pair(1u, 2u), {5u, 2u}, {32u, 1u}, {33u, 2u}, {64u, 1u}, {65u, 1u}, {72u, 1u}, {72u, 2u}}) {
    const unsigned wrong = run(members, blocks, 20, weakness::none);
    std::printf("%s  %u members of %u: %u wrong values\n", wrong == 0 ? "ok  " : "FAIL", members, blocks,
                wrong);
    std::fflush(stdout);
    if (wrong != 0) ++failures;
  }
  return failures == 0 ? 0 : 1;
}
