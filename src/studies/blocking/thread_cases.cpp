#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <barrier>
#include <memory>

#include <fmt/format.h>

#include "src/studies/blocking/flag_meeting.hpp"
#include "src/studies/blocking/held_rounds.hpp"
#include "src/studies/blocking/host_cases.hpp"

namespace mgsync::blocking {
namespace {

class std_meeting final : public meeting {
 public:
  explicit std_meeting(unsigned participants) : here_(participants), elsewhere_(participants) {}
  bool meet(unsigned) override {
    here_.arrive_and_wait();
    return true;
  }
  void wait_elsewhere(unsigned) override { elsewhere_.arrive_and_wait(); }
  void drop(unsigned) override { here_.arrive_and_drop(); }

 private:
  std::barrier<> here_, elsewhere_;
};

class posix_meeting final : public meeting {
 public:
  explicit posix_meeting(unsigned participants) {
    pthread_barrier_init(&here_, nullptr, participants);
    pthread_barrier_init(&elsewhere_, nullptr, participants);
  }
  bool meet(unsigned) override {
    pthread_barrier_wait(&here_);
    return true;
  }
  void wait_elsewhere(unsigned) override { pthread_barrier_wait(&elsewhere_); }

 private:
  pthread_barrier_t here_{}, elsewhere_{};
};

// The barrier of the innermost OpenMP team, which is one object wherever it stands in the code.
class team_meeting final : public meeting {
 public:
  bool meet(unsigned) override {
#pragma omp barrier
    return true;
  }
  void wait_elsewhere(unsigned) override {
#pragma omp barrier
  }
};

// What must live until the process ends, since threads that hang still use it.
struct shared {
  std::unique_ptr<case_board> board = std::make_unique<case_board>();
  std::vector<std::uint32_t> flags, line_flags, slots;
  std::vector<std::int64_t> stamps;
  std::uint32_t wrong = 0;
  std::unique_ptr<meeting> barrier;
  std::unique_ptr<flag_barrier> line;
  held_memory held{};
};

constexpr auto never = std::chrono::hours(1);

shared& make_shared_state(const blocking_case& c) {
  static shared all;
  const auto words = flag_barrier::words(c.members);
  all.flags.resize(2 * words);
  all.line_flags.resize(words);
  all.slots.resize(std::size_t{2} * c.members * 32);
  all.stamps.resize(held_memory::stamps(c.rounds, c.members));
  all.line = std::make_unique<flag_barrier>(all.line_flags.data(), c.members, never);
  all.held = {all.stamps.data(), &all.wrong, all.slots.data()};
  if (c.method == "std-barrier") all.barrier = std::make_unique<std_meeting>(c.members);
  else if (c.method == "pthread-barrier") all.barrier = std::make_unique<posix_meeting>(c.members);
  else if (c.method == "openmp") all.barrier = std::make_unique<team_meeting>();
  else
    all.barrier =
        std::make_unique<flag_meeting>(all.flags.data(), c.members, std::chrono::milliseconds(c.bound_ms));
  return all;
}

std::optional<std::int64_t> stamp_at(const std::atomic<std::int64_t>& place) {
  const auto stamp = place.load();
  return stamp == 0 ? std::nullopt : std::optional(stamp);
}

case_seen seen_on(const case_run& run) {
  case_seen seen;
  for (unsigned i = 0; i < run.participants; ++i) {
    const auto& p = run.board->places[i];
    seen.participants.push_back({stamp_at(p.arrived), stamp_at(p.left), stamp_at(p.acted)});
    if (p.gave_up.load() == 0) continue;
    for (const unsigned who : run.barrier->named(i)) seen.named.push_back(who);
  }
  return seen;
}

// Starts a watcher that ends the process. It has a thread of its own, since the main thread may be a
// participant.
void end_when_over(const case_run& run) {
  std::thread([run] {
    const auto ended = watch(run);
    auto seen = seen_on(run);
    seen.ended_by = ended;
    tell(seen);
    _exit(0);
  }).detach();
}

[[noreturn]] void wait_to_be_ended() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

[[noreturn]] void end_rounds(const blocking_case& c, const shared& all) {
  tell({.ended_by = "itself", .held = judge_rounds(c, c.members, all.held)});
  _exit(0);
}

// Carries out what participant `i` does, in rounds (part 1) or once.
void work_of(const case_run& run, shared& all, unsigned i) {
  if (run.asked->rounds > 0)
    return take_rounds(*run.asked, run.participants, i, *all.barrier, *all.line, all.held);
  take_part(run, i, {}, [] {});
}

}  // namespace

void run_thread_case(const blocking_case& c) {
  auto& all = make_shared_state(c);
  const case_run run{&c, c.members, all.board.get(), all.barrier.get()};
  std::vector<std::thread> threads;
  if (c.rounds == 0) end_when_over(run);
  for (unsigned i = 0; i < c.members; ++i)
    threads.emplace_back([&, i] {
      work_of(run, all, i);
      all.board->places[i].done.store(now_ns());
    });
  if (c.rounds == 0) wait_to_be_ended();
  for (auto& t : threads) t.join();
  end_rounds(c, all);
}

void run_openmp_case(const blocking_case& c) {
  auto& all = make_shared_state(c);
  const case_run run{&c, c.members, all.board.get(), all.barrier.get()};
#if defined(__clang__)
  tell_found("runtime", "libomp");
#else
  tell_found("runtime", "libgomp");
#endif
  if (c.rounds == 0) end_when_over(run);
  omp_set_dynamic(0);
  const int members = static_cast<int>(c.members);
  std::atomic<int> team{0};
#pragma omp parallel num_threads(members)
  {
    if (omp_get_num_threads() == members) work_of(run, all, static_cast<unsigned>(omp_get_thread_num()));
    else team.store(omp_get_num_threads());
  }
  if (team.load() != 0) {
    tell_found("error", fmt::format("a team of {} threads was made in place of {}", team.load(), c.members));
    _exit(4);
  }
  if (c.rounds > 0) end_rounds(c, all);
  for (unsigned i = 0; i < c.members; ++i) all.board->places[i].done.store(now_ns());
  wait_to_be_ended();
}

}  // namespace mgsync::blocking
