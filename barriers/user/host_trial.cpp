#include "barriers/user/host_trial.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "barriers/user/guarded_part.hpp"
#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"
#include "src/base/thread_times.hpp"

namespace mgsync::user {

namespace {

using round_loop::host_findings;
using round_loop::host_run;
using round_loop::worker_page;

// A worker that ran for so long could have arrived thousands of times.
constexpr std::chrono::milliseconds enough_to_arrive(5);
constexpr std::chrono::minutes longest_starved(1);

struct worker {
  unsigned member = 0, block = 0, stream = 0;
  unsigned self = 0;                 // its index in neighbours
  std::vector<unsigned> neighbours;  // those that it is checked against, itself included, by index among all
};

// What the child process tells the parent, in shared memory.
struct told {
  std::uint32_t abort;
  std::uint32_t launches_done;
  std::uint32_t had_enough;   // it ended before its last launch, as it was to do
  const void* fault_address;  // of a crash
};

template <class T>
class shared_array {
 public:
  explicit shared_array(std::size_t count) : bytes_(count * sizeof(T)) {
    void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw api_error("mmap", std::strerror(errno), "making the memory of a trial");
    first_ = static_cast<T*>(mapped);
  }
  ~shared_array() { munmap(first_, bytes_); }
  shared_array(const shared_array&) = delete;
  shared_array& operator=(const shared_array&) = delete;
  T& operator[](std::size_t i) const { return first_[i]; }

 private:
  std::size_t bytes_;
  T* first_;
};

std::vector<worker> workers_of(const check::barrier_table& of, const scenario& s) {
  std::vector<worker> all;
  for (unsigned stream = 0; stream < s.streams; ++stream)
    for (unsigned m = 0; m < s.blocks.size(); ++m)
      for (unsigned b = 0; b < s.blocks[m]; ++b) all.push_back({m, b, stream, 0, {}});
  for (unsigned i = 0; i < all.size(); ++i)
    for (unsigned k = 0; k < all.size(); ++k) {
      if (all[k].stream != all[i].stream) continue;
      if (of.orders == check::extent::equal_blocks && all[k].block != all[i].block) continue;
      if (k == i) all[i].self = static_cast<unsigned>(all[i].neighbours.size());
      all[i].neighbours.push_back(k);
    }
  return all;
}

told* of_this_child = nullptr;
void note_crash(int signal, siginfo_t* about, void*) {
  of_this_child->fault_address = about->si_addr;
  std::signal(signal, SIG_DFL);  // the instruction faults again, which ends the process
}

class forked_trial {
 public:
  forked_trial(const check::barrier_table& of, const scenario& s)
      : of_(of), scenario_(s), shape_(shape_of(of, s)), workers_(workers_of(of, s)) {
    for (unsigned m = 0; m < shape_.members; ++m) {
      parts_.emplace_back(of.bytes(&shape_));
      addresses_.push_back(parts_.back().get());
    }
    const auto cpus = static_cast<unsigned>(std::max<std::size_t>(allowed_cpus().size(), 1));
    crowd_ = static_cast<unsigned>((workers_.size() + cpus - 1) / cpus);
    for (unsigned m = 0; m < shape_.members; ++m) of.start(addresses_[m], m, &shape_);
  }

  tried run() {
    std::fflush(nullptr);  // else the child may write the buffered text once more
    const pid_t child = check_errno(fork(), "starting a trial");
    if (child == 0) be_the_child();
    int status = 0;
    const bool ended = wait_for(child, status);
    if (crashed_beside_a_part()) return judge_crash(status);
    return ended ? judge_end(status) : judge_hang();
  }

 private:
  // ---- the child

  [[noreturn]] void be_the_child() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    of_this_child = &told_[0];
    struct sigaction note {};
    note.sa_sigaction = note_crash;
    note.sa_flags = SA_SIGINFO;
    for (const int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &note, nullptr);
    for (const int signal : {SIGABRT, SIGILL, SIGFPE, SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
    const auto began = std::chrono::steady_clock::now();
    const auto has_taken = [&](std::chrono::milliseconds time) {
      return std::chrono::steady_clock::now() - began > time;
    };
    for (std::uint32_t launch = 0; launch < scenario_.launches; ++launch) {
      if (launch != 0 && scenario_.enough) {
        if (has_taken(*scenario_.enough)) {
          told_[0].had_enough = 1;
          break;
        }
        if (launch < scenario_.second_object && has_taken(*scenario_.enough / 2))
          scenario_.second_object = launch;
      }
      if (launch != 0 && launch == scenario_.second_object)
        for (unsigned m = 0; m < shape_.members; ++m) of_.start(addresses_[m], m, &shape_);
      std::vector<std::thread> threads;
      for (unsigned w = 0; w < workers_.size(); ++w)
        threads.emplace_back([this, launch, w] { work(launch, w); });
      for (auto& t : threads) t.join();
      if (told_[0].abort != 0 || violations() != 0) break;
      __atomic_store_n(&told_[0].launches_done, launch + 1, __ATOMIC_RELEASE);
    }
    _exit(0);
  }

  void work(std::uint32_t launch, unsigned w) {
    const worker& me = workers_[w];
    std::vector<worker_page*> pages;
    for (const unsigned n : me.neighbours) pages.push_back(&pages_[n]);
    check::host_order order{};
    host_run& run = order.run;
    run.rounds = scenario_.rounds;
    run.self = me.self;
    run.workers = static_cast<std::uint32_t>(pages.size());
    run.blocks = 1;
    run.seed = scenario_.seed;
    run.pages = pages.data();
    run.rounds_done = std::uint64_t{launch} * scenario_.rounds;
    run.fault = me.block == 0 ? scenario_.fault : host_run::no_fault;
    run.fault_worker = scenario_.fault_member;
    run.fault_round = missed_round;
    run.yields = 1;  // nothing is timed here
    run.crowd = crowd_;
    run.abort = &told_[0].abort;
    order.at = position_of(me, launch);
    order.what = scenario_.what;
    of_.run(&order, &findings_[w]);
  }

  check::position position_of(const worker& me, std::uint32_t launch) const {
    check::position at{};
    at.member = me.member;
    at.members = shape_.members;
    at.block = me.block;
    at.blocks = scenario_.blocks[me.member];
    at.workers = shape_.workers;
    at.stream = me.stream;
    at.streams = scenario_.streams;
    // A round of ordinary accesses has three passages.
    const std::uint32_t passed = scenario_.rounds * (scenario_.what == check::loop::ordinary ? 3 : 1);
    const std::uint32_t since = launch < scenario_.second_object ? 0 : scenario_.second_object;
    at.epoch = shape_.epoch + (scenario_.replayed ? 0 : (launch - since) * passed);
    at.parts = addresses_.data();
    at.abort = &told_[0].abort;
    at.yields = 1;
    return at;
  }

  // ---- the parent

  // Rounds that worker w has arrived at; once the trial was given up, those until then, since some workers
  // run on.
  std::uint64_t arrived(unsigned w) const {
    return given_up_at_.empty() ? __atomic_load_n(&pages_[w].arrived, __ATOMIC_RELAXED) : given_up_at_[w];
  }
  std::uint64_t progress() const {
    std::uint64_t sum = __atomic_load_n(&told_[0].launches_done, __ATOMIC_ACQUIRE);
    for (unsigned w = 0; w < workers_.size(); ++w) sum += arrived(w);
    return sum;
  }
  std::uint64_t violations() const {
    std::uint64_t sum = 0;
    for (unsigned w = 0; w < workers_.size(); ++w) sum += findings_[w].violations;
    return sum;
  }

  // Waits for the child to end. Returns false if no worker went on for the scenario's patience, and longer
  // where some of them were kept from a CPU by what else runs here; the child was ended then.
  bool wait_for(pid_t child, int& status) {
    using clock = std::chrono::steady_clock;
    std::optional<std::map<int, thread_time>> at_patience;  // what its threads had run when it was over
    auto last_seen = progress();
    auto since = clock::now();
    while (waitpid(child, &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      const auto now = progress();
      if (now != last_seen) {
        since = clock::now();
        at_patience.reset();
      }
      last_seen = now;
      const auto waited = clock::now() - since;
      if (waited < scenario_.patience) continue;
      const auto threads = thread_times(child);
      if (!at_patience) at_patience = threads;
      starved_ = some_wait_for_a_cpu(*at_patience, threads, enough_to_arrive);
      if (starved_ && waited < scenario_.patience + longest_starved) continue;
      end(child, status);
      return false;
    }
    return true;
  }

  // Waits that call go_on() give up; if the child does not end within 100 ms, it is killed.
  void end(pid_t child, int& status) {
    std::vector<std::uint64_t> now;
    for (unsigned w = 0; w < workers_.size(); ++w) now.push_back(arrived(w));
    given_up_at_ = std::move(now);
    __atomic_store_n(&told_[0].abort, 1u, __ATOMIC_RELAXED);
    for (int i = 0; i < 100; ++i) {
      if (waitpid(child, &status, WNOHANG) != 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }

  std::string name_of(unsigned w) const {
    const worker& who = workers_[w];
    std::string name = fmt::format("member {}", who.member);
    if (shape_.blocks > 1) name += fmt::format(" block {}", who.block);
    if (scenario_.streams > 1) name += fmt::format(" of stream {}", who.stream);
    return name;
  }

  std::uint64_t most_arrived() const {
    std::uint64_t most = 0;
    for (unsigned w = 0; w < workers_.size(); ++w) most = std::max(most, arrived(w));
    return most;
  }

  bool crashed_beside_a_part() const {
    return told_[0].fault_address != nullptr && std::any_of(parts_.begin(), parts_.end(), [&](const auto& p) {
             return p.guards(told_[0].fault_address);
           });
  }
  tried judge_crash(int status) const;
  tried judge_end(int status) const;
  tried judge_hang() const;
  tried judge_violation() const;
  tried judge_a_part() const;

  const check::barrier_table& of_;
  scenario scenario_;
  check::shape shape_;
  std::vector<worker> workers_;
  std::vector<guarded_part> parts_;
  std::vector<void*> addresses_;
  unsigned crowd_ = 1;
  std::vector<std::uint64_t> given_up_at_;
  bool starved_ = false;  // once it was given up: some of its threads had no CPU
  shared_array<told> told_{1};
  shared_array<worker_page> pages_{workers_.size()};
  shared_array<host_findings> findings_{workers_.size()};
};

tried forked_trial::judge_crash(int status) const {
  for (unsigned m = 0; m < parts_.size(); ++m)
    if (parts_[m].guards(told_[0].fault_address))
      return {ending::overran, most_arrived(),
              fmt::format("went beyond the {} bytes of member {}'s memory", of_.bytes(&shape_), m)};
  if (WIFSIGNALED(status))
    return {ending::crashed, most_arrived(),
            fmt::format("crashed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))};
  return {ending::crashed, most_arrived(),
          fmt::format("left the process with exit code {}", WEXITSTATUS(status))};
}

tried forked_trial::judge_end(int status) const {
  constexpr int of_a_race = 66;
  if (WIFEXITED(status) && WEXITSTATUS(status) == of_a_race)
    return {ending::violated, most_arrived(),
            "ThreadSanitizer found a race: what the barrier is to order, it does not"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return judge_crash(status);
  if (violations() != 0) return judge_violation();
  for (unsigned m = 0; m < parts_.size(); ++m)
    if (parts_[m].was_overrun())
      return {ending::overran, most_arrived(),
              fmt::format("wrote beside the {} bytes of member {}'s memory", of_.bytes(&shape_), m)};
  if (told_[0].launches_done != scenario_.launches && told_[0].had_enough == 0)
    return {ending::crashed, most_arrived(), "left the process with exit code 0"};
  if (scenario_.fault == host_run::arrive_early)
    return {ending::violated, most_arrived(),
            "member 0 came early on purpose, and nobody saw it: what this check says means nothing"};
  return told_[0].had_enough != 0 ? judge_a_part() : tried{ending::passed, most_arrived(), {}};
}

// Its counters cross what they are to cross in the middle of all rounds.
tried forked_trial::judge_a_part() const {
  const auto rounds_in = [&](std::uint32_t launches) { return std::uint64_t{launches} * scenario_.rounds; };
  const auto done = rounds_in(told_[0].launches_done), all = rounds_in(scenario_.launches);
  const auto part = fmt::format("{} of {} rounds in {:.3g} s: the machine is busy, or the barrier slow", done,
                                all, std::chrono::duration<double>(*scenario_.enough).count());
  if (scenario_.crosses_its_own && done <= all / 2)
    return {ending::waived, done, part + ", and its counters did not come so far"};
  return {ending::passed, done, part};
}

tried forked_trial::judge_violation() const {
  const host_findings* first = nullptr;
  unsigned who = 0;
  for (unsigned w = 0; w < workers_.size(); ++w)
    if (findings_[w].violations != 0 && (first == nullptr || findings_[w].round < first->round)) {
      first = &findings_[w];
      who = w;
    }
  const std::uint64_t round = std::uint64_t{told_[0].launches_done} * scenario_.rounds + first->round + 1;
  if (scenario_.fault == host_run::arrive_early) return {ending::passed, round, {}};
  const auto& neighbours = workers_[who].neighbours;
  return {ending::violated, round,
          fmt::format("{} left round {} and read of {}: {} 0x{:08x}, expected 0x{:08x}",
                      name_of(neighbours[first->reader]), round, name_of(neighbours[first->offender]),
                      first->what, first->seen, first->expected)};
}

// If a member is absent on purpose, the others must wait for it; otherwise nobody may be stuck.
tried forked_trial::judge_hang() const {
  const bool one_is_absent = scenario_.fault == host_run::never_arrive;
  if (one_is_absent)
    for (unsigned w = 0; w < workers_.size(); ++w)
      if (arrived(w) > missed_round + 1)
        return {ending::violated, arrived(w),
                fmt::format("{} left round {}, at which member {} never arrived", name_of(w),
                            missed_round + 1, scenario_.fault_member)};
  if (starved_)
    return {ending::waived, most_arrived(),
            "nobody went on, and some of its threads got no CPU: this machine is too busy to tell"};
  if (one_is_absent) return {ending::passed, most_arrived(), {}};
  std::vector<std::pair<std::string, std::uint64_t>> where;
  for (unsigned w = 0; w < workers_.size(); ++w) where.emplace_back(name_of(w), arrived(w));
  return stuck_at(where);
}

}  // namespace

tried try_on_host(const check::barrier_table& of, const scenario& s) {
  alarm(seconds_to_prepare);
  if (auto why = why_not_for(of, s); !why.empty()) {
    alarm(0);
    return {ending::refused, 0, std::move(why)};
  }
  forked_trial made(of, s);
  alarm(0);
  return made.run();
}

}  // namespace mgsync::user
