// node_proxy_test: the proxies of <mgsync/node_proxy.hpp> without a GPU. Two threads of each rank stand for
// its GPUs and make steps of Jacobi on a plate; what crosses ranks, the proxies carry. All ranks together
// must compute what one thread computes. Then the last rank does not come, and the others say for whom they
// wait.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <mgsync/node_proxy.hpp>

namespace {

constexpr unsigned members = 2, columns = 33, steps = 300;
constexpr auto patience = std::chrono::seconds(60);

using row = std::vector<float>;
using state = std::vector<row>;

row next_of(const row& above, const row& here, const row& below) {
  row next(columns, 0);
  for (unsigned c = 1; c + 1 < columns; ++c)
    next[c] = 0.25f * (above[c] + below[c] + here[c - 1] + here[c + 1]);
  return next;
}

// The plate's rows between an edge of ones and one of zeros.
state plate_of(unsigned rows) {
  state all(rows + 2, row(columns, 0));
  all.front().assign(columns, 1);
  return all;
}
state of_one_thread(unsigned rows) {
  auto now = plate_of(rows);
  for (unsigned s = 0; s < steps; ++s) {
    auto next = now;
    for (unsigned r = 1; r <= rows; ++r) next[r] = next_of(now[r - 1], now[r], now[r + 1]);
    now = next;
  }
  return now;
}

// What a member does at a barrier, as a kernel's speaking block does.
bool meet(const mgsync::node_words& words, unsigned member, std::uint32_t epoch,
          const std::atomic<bool>& ended) {
  __atomic_store_n(words.come(member), epoch, __ATOMIC_RELEASE);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (__atomic_load_n(words.let_go(member), __ATOMIC_ACQUIRE) != epoch) {
    if (ended.load() || std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

// One rank's rows, two halos among them.
struct share {
  state now, next;
  row out[2], in[2];  // to and from the rank above and the one below
};

void step(share& mine, unsigned member, bool first, bool last) {
  const auto rows = static_cast<unsigned>(mine.now.size()) - 2;
  for (unsigned r = 1 + member; r <= rows; r += members) {
    mine.next[r] = next_of(mine.now[r - 1], mine.now[r], mine.now[r + 1]);
    if (r == 1 && !first) mine.out[0] = mine.next[r];
    if (r == rows && !last) mine.out[1] = mine.next[r];
  }
}

int failures = 0;
void expect(bool good, const std::string& text) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAIL  %s\n", text.c_str());
}

std::vector<std::uint32_t> some_words() {
  return std::vector<std::uint32_t>(mgsync::node_words::bytes(members) / 4);
}

void computes_what_one_thread_does(int rank, int ranks) {
  const unsigned each = 5, rows = each * static_cast<unsigned>(ranks);
  const bool first = rank == 0, last = rank + 1 == ranks;
  auto memory = some_words();
  const mgsync::node_words words{memory.data(), members};
  mgsync::node_proxy proxy(MPI_COMM_WORLD, words);
  const auto whole = plate_of(rows);
  const auto from = whole.begin() + static_cast<std::ptrdiff_t>(each) * rank;
  share mine{{from, from + each + 2},
             {from, from + each + 2},
             {row(columns), row(columns)},
             {row(columns), row(columns)}};
  for (const int side : {0, 1})
    if (side == 0 ? !first : !last)
      proxy.carry(rank + 2 * side - 1, mine.out[side].data(), mine.in[side].data(), columns * sizeof(float));
  std::atomic<bool> ended{false};
  std::atomic<unsigned> left{0};
  std::atomic<bool> lost{false};
  std::vector<std::thread> threads;
  for (unsigned m = 0; m < members; ++m)
    threads.emplace_back([&, m] {
      auto epoch = mgsync::first_node_epoch;
      bool all_came = true;
      for (unsigned s = 0; s < steps && all_came; ++s) {
        step(mine, m, first, last);
        all_came = meet(words, m, ++epoch, ended);
        if (m == 0) {  // between two barriers of the ranks one thread takes over what came
          std::swap(mine.now, mine.next);
          if (!first) mine.now.front() = mine.in[0];
          if (!last) mine.now.back() = mine.in[1];
        }
        all_came = all_came && meet(words, m, ++epoch, ended);
      }
      if (!all_came) lost = true;
      if (++left == members) ended = true;
    });
  proxy.serve(ended);
  for (auto& t : threads) t.join();
  expect(!lost, "a barrier was given up");
  expect(proxy.awaited().empty() && proxy.rounds() == 2 * steps,
         std::to_string(proxy.rounds()) + " rounds, waiting for " + proxy.awaited());
  const auto expected = of_one_thread(rows);
  for (unsigned r = 1; r <= each; ++r)
    expect(mine.now[r] == expected[each * static_cast<unsigned>(rank) + r],
           "rank " + std::to_string(rank) + " row " + std::to_string(r) + " differs from one thread's");
}

void says_for_whom_it_waits(int rank, int ranks) {
  auto memory = some_words();
  const mgsync::node_words words{memory.data(), members};
  mgsync::node_proxy proxy(MPI_COMM_WORLD, words);
  std::atomic<bool> ended{false};
  std::thread member([&] {
    if (rank + 1 == ranks) {
      ended = true;
      return;
    }
    for (unsigned m = 0; m < members; ++m)
      __atomic_store_n(words.come(m), mgsync::first_node_epoch + 1, __ATOMIC_RELEASE);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ended = true;
  });
  proxy.serve(ended);
  member.join();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank + 1 == ranks) return expect(proxy.awaited().empty(), "it waits for " + proxy.awaited());
  expect(*words.let_go(0) == mgsync::first_node_epoch, "a member was let go although a node is missing");
  const auto whom = "process " + std::to_string(ranks - 1) + " on ";  // of three ranks all wait for the last
  expect(proxy.awaited().rfind(whom, 0) == 0,
         "it waits for '" + proxy.awaited() + "', which does not begin with " + whom);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, ranks = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  computes_what_one_thread_does(rank, ranks);
  says_for_whom_it_waits(rank, ranks);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
