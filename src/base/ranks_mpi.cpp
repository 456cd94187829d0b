// What the ranks of a job know of each other beside their collective calls: their processes, the last
// sentence of one that ends, and who answers.
#include "src/base/ranks_mpi.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/awake_clock.hpp"
#include "src/base/communicator.hpp"
#include "src/base/hosts.hpp"
#include "src/base/launcher.hpp"
#include "src/base/printable.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {

namespace {

struct rank_process {
  char host[64];
  char boot[64];
  char numbers[64];  // the PID namespace: containers of one host may have their own
  int pid;
  int words;  // the file descriptor of this process that others write their last sentence to; negative: none
  bool is_near(const rank_process& other) const {
    return std::string_view(host) == other.host && std::string_view(boot) == other.boot &&
           std::string_view(numbers) == other.numbers;
  }
};

// The processes of all ranks, gathered once in world(), so that a time-out can name those that do not answer.
std::vector<rank_process> processes;
std::atomic<int> job_rank = 0;
std::atomic<bool> processes_known = false;  // the watchdog asks too, from a thread of its own

// An anonymous file in memory, to which this rank and others of this host write why they end (leave_word).
int words = -1;
constexpr std::size_t longest_word = 4096;
constexpr std::string_view written_line =
    "\twritten\n";  // no word has a tab: it is one line of printable text
std::atomic<bool> over = false;
std::atomic<bool> left_a_word = false;

// State letter of a process in /proc, '-' when it is gone.
char process_state(int pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(stat, line)) return '-';
  const auto end_of_name = line.rfind(')');
  return end_of_name == std::string::npos || end_of_name + 2 >= line.size() ? '-' : line[end_of_name + 2];
}

bool is_gone(char state) { return state == 'Z' || state == 'X' || state == '-'; }

std::string name_of_rank(std::size_t rank) {
  const auto& p = processes[rank];
  return fmt::format("rank {} (process {} on {})", rank, p.pid, p.host);
}

std::string word_left() {
  char text[longest_word];
  const auto size = words < 0 ? 0 : pread(words, text, sizeof text, 0);
  const std::string_view all(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return all.starts_with(written_line) ? "" : std::string(all.substr(0, all.find('\n')));
}

unique_descriptor open_words_of(const rank_process& rank, int how) {
  return unique_descriptor(
      open(fmt::format("/proc/{}/fd/{}", rank.pid, rank.words).c_str(), how | O_CLOEXEC));
}

#ifdef __GLIBC__
// A library that calls exit() takes the rank out of the job, and no exception tells of it.
void tell_of_exit(int code, void*) {
  if (over || !processes_known || processes[static_cast<std::size_t>(job_rank)].pid != getpid()) return;
  const auto why = fmt::format("{} called exit({}) before its end", communicator::this_rank(), code);
  communicator::leave_word(why);
  say("mgsync: {}\n", why);
  communicator::let_first_write(patience_of_a_failed_rank);
  if (code != 0) ask_launcher_to_end_job(code);
}
#endif

constexpr int question = 1, answer = 2;  // tags, of messages between ranks of the job; nothing else sends any

void send_empty(int rank, int tag) {
  MPI_Request sent = MPI_REQUEST_NULL;
  if (MPI_Isend(nullptr, 0, MPI_CHAR, rank, tag, MPI_COMM_WORLD, &sent) == MPI_SUCCESS)
    MPI_Request_free(&sent);
}

// The rank that such a message came from; nothing where none has.
std::optional<int> received(int tag) {
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || there == 0)
    return {};
  const int rank = status.MPI_SOURCE;
  MPI_Recv(nullptr, 0, MPI_CHAR, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return rank;
}

}  // namespace

void answer_questions() {
  while (const auto rank = received(question)) send_empty(*rank, answer);
}

std::string who_did_not_come() {
  if (!processes_known || processes.size() == 1) return "";
  std::vector<bool> came(processes.size(), false);
  came[static_cast<std::size_t>(job_rank)] = true;
  for (std::size_t rank = 0; rank < came.size(); ++rank)
    if (!came[rank]) send_empty(static_cast<int>(rank), question);
  constexpr std::chrono::milliseconds patience(500);
  for (const auto end = awake_clock::now() + patience;
       awake_clock::now() < end && std::ranges::find(came, false) != came.end();) {
    answer_questions();
    while (const auto rank = received(answer)) came[static_cast<std::size_t>(*rank)] = true;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  std::vector<std::string> missing;
  for (std::size_t rank = 0; rank < came.size(); ++rank)
    if (!came[rank]) missing.push_back(name_of_rank(rank));
  if (missing.empty()) return "";
  constexpr std::size_t most = 8;
  const auto more = missing.size() > most ? fmt::format(" and {} more", missing.size() - most) : "";
  if (missing.size() > most) missing.resize(most);
  return fmt::format("; {}{} did not come", fmt::join(missing, ", "), more);
}

void introduce_ranks(const communicator& all) {
  job_rank = all.rank();
  rank_process mine{};
  host_name().copy(mine.host, sizeof mine.host - 1);
  boot_id().copy(mine.boot, sizeof mine.boot - 1);
  if (readlink("/proc/self/ns/pid", mine.numbers, sizeof mine.numbers - 1) < 0) mine.numbers[0] = '\0';
  mine.pid = static_cast<int>(getpid());
  mine.words = words = memfd_create("mgsync: why ranks end", MFD_CLOEXEC);
  processes = all.all_gather_values(mine, "gathering processes");
  processes_known = true;
#ifdef __GLIBC__
  if (all.size() > 1) on_exit(tell_of_exit, nullptr);
#endif
}

bool job_has_several_ranks() { return processes.size() > 1; }

void ranks_begin_to_end() { over = true; }

std::string communicator::lost_ranks(lost which) {
  if (!processes_known) return {};
  if (auto word = word_left(); !word.empty()) return word;
  std::string found;
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    const auto& p = processes[rank];
    const auto& mine = processes[static_cast<std::size_t>(job_rank)];
    if (!p.is_near(mine)) continue;
    const char state = process_state(p.pid);
    const char* word = is_gone(state)                                                     ? "is gone"
                       : (state == 'T' || state == 't') && which == lost::gone_or_stopped ? "is stopped"
                                                                                          : nullptr;
    if (word != nullptr) found += fmt::format("{}{} {}", found.empty() ? "" : ", ", name_of_rank(rank), word);
  }
  // Where this process was stopped until just now, that may be why the others are gone.
  const auto own = awake_clock::stopped_within(std::chrono::seconds(2));
  if (own.count() > 0 && processes.size() > 1 && (!found.empty() || which == lost::gone_or_stopped))
    return fmt::format("{} was stopped, or got no CPU, for {:.3g} s", this_rank(),
                       std::chrono::duration<double>(own).count());
  return found;
}

std::string communicator::this_rank() {
  return processes_known && processes.size() > 1 ? name_of_rank(static_cast<std::size_t>(job_rank)) : "";
}

bool communicator::first_is_gone() {
  if (!processes_known) return false;
  const auto& first = processes.front();
  return first.is_near(processes[static_cast<std::size_t>(job_rank)]) && is_gone(process_state(first.pid));
}

void communicator::leave_word(std::string_view sentence) {
  if (!processes_known || processes.size() == 1) return;
  left_a_word = true;
  auto line = one_line(sentence.substr(0, longest_word / 2)) + "\n";  // escaped characters are longer
  line.resize(std::min(line.size(), longest_word));
  const auto& mine = processes[static_cast<std::size_t>(job_rank)];
  for (const auto& other : processes) {
    if (other.words < 0 || !other.is_near(mine)) continue;
    const auto open_one = open_words_of(other, O_WRONLY | O_APPEND);
    if (!open_one || write(open_one.get(), line.data(), line.size()) < 0) continue;  // no way to reach it
  }
}

bool communicator::is_over() { return over; }

bool communicator::has_word() { return !word_left().empty(); }

bool communicator::was_told() { return !left_a_word && has_word(); }

bool communicator::speaks_first() { return job_rank == 0; }

void communicator::files_are_written() {
  if (!processes_known || !speaks_first() || words < 0) return;
  const auto own = open_words_of(processes.front(), O_WRONLY | O_APPEND);
  if (own && write(own.get(), written_line.data(), written_line.size()) < 0) return;  // they wait in vain
}

void communicator::let_first_write(std::chrono::nanoseconds most) {
  using namespace std::chrono_literals;
  if (!processes_known || speaks_first()) return;
  const auto& first = processes.front();
  if (first.words < 0 || !first.is_near(processes[static_cast<std::size_t>(job_rank)])) return;
  const auto said = open_words_of(first, O_RDONLY);
  const auto has_written = [&] {
    std::string text(4 * longest_word, '\0');
    return pread(said.get(), text.data(), text.size(), 0) > 0 && text.find(written_line) != std::string::npos;
  };
  for (const auto end = awake_clock::now() + most; said && !has_written() && awake_clock::now() < end;) {
    const char state = process_state(first.pid);
    if (is_gone(state)) return;
    if (state == 'T') kill(first.pid, SIGCONT);
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace mgsync
