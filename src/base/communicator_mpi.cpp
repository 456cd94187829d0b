// The body of communicator with MPI. Only nonblocking collectives, polled with sleeps between.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/awake_clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/hosts.hpp"
#include "src/base/launcher.hpp"
#include "src/base/loaded_libraries.hpp"
#include "src/base/mpi_native.hpp"
#include "src/base/printable.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {

namespace {

// MPI's description of itself; may be called before MPI_Init.
std::string mpi_text() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}

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

constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
std::string level_in_force;

std::string word_of(int provided) {
  for (std::size_t i = 0; i < std::size(levels); ++i)
    if (levels[i] == provided) return std::string(thread_level_words[i]);
  return "unknown";
}

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

// A rank whose wait is over its time asks all others by a message, which those that wait too answer. On other
// hosts nothing else tells who is missing.
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

void answer_questions() {
  while (const auto rank = received(question)) send_empty(*rank, answer);
}

// "; rank 3 (process 4711 on n1) did not come": those that do not wait; empty where all do, or it is not
// known.
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

void wait_quietly(MPI_Request& request, std::chrono::nanoseconds timeout, std::string_view what) {
  using namespace std::chrono_literals;
  const auto begin = awake_clock::now();
  auto look = begin + (communicator::speaks_first() ? 1s : 2s);
  for (;;) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return;
    const auto now = awake_clock::now();
    const auto waited = now - begin;
    if (now > look || waited > timeout) {
      look = now + 500ms;
      const auto lost = communicator::lost_ranks(waited > timeout ? communicator::lost::gone_or_stopped
                                                                  : communicator::lost::gone);
      if (!lost.empty()) throw rank_lost(fmt::format("{}; not all ranks answered while {}", lost, what));
    }
    if (waited > timeout)
      throw timeout_error(fmt::format("not all ranks answered within {:.3g} s while {}{}",
                                      std::chrono::duration<double>(timeout).count(), what,
                                      who_did_not_come()));
    if (waited > std::chrono::milliseconds(10)) answer_questions();
    // Short waits poll without a pause; longer ones sleep, so that they take nothing from the cores under
    // test.
    if (waited > std::chrono::microseconds(20))
      std::this_thread::sleep_for(waited > std::chrono::milliseconds(10) ? std::chrono::microseconds(500)
                                                                         : std::chrono::microseconds(20));
  }
}

}  // namespace

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
    return fmt::format("{} was stopped for {:.3g} s", this_rank(),
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

void check_mpi(int result, std::string_view action, source_location where) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw api_error("MPI", text, action, where);
}

communicator::native::~native() {
  // Both calls are collective: while an exception unwinds, they would wait for ranks that never call them.
  if (std::uncaught_exceptions() > 0) return;
  if (owns_comm && comm != MPI_COMM_NULL) {
    const watched_call bounded(*this, "freeing a communicator (MPI_Comm_free)");
    MPI_Comm_free(&comm);
  }
  if (owns_mpi) {
    const watched_call bounded(*this, "ending MPI (MPI_Finalize)");
    over = true;
    MPI_Finalize();
  }
}

communicator::communicator() = default;
communicator::communicator(communicator&&) noexcept = default;
communicator& communicator::operator=(communicator&&) noexcept = default;
communicator::~communicator() = default;

bool communicator::built_with_mpi() { return true; }

std::string communicator::library_version() { return mpi_name(mpi_text()); }

std::string communicator::library_in_use() {
  const auto text = mpi_text();
  auto transport = mpi_device(text);
  if (transport.empty())
    for (const std::string_view kind : {"pml", "mtl", "btl"})
      if (const auto those = loaded_components(fmt::format("mca_{}_", kind)); !those.empty())
        transport += fmt::format("{}{} {}", transport.empty() ? "" : ", ", kind, fmt::join(those, " "));
  return mpi_name(text) + (transport.empty() ? "" : fmt::format(" ({})", transport));
}

std::string communicator::thread_level_in_force() { return level_in_force; }

communicator communicator::single(std::chrono::nanoseconds timeout) {
  communicator one;
  one.timeout_ = timeout;
  one.native_ = std::make_unique<native>();
  one.native_->comm = MPI_COMM_SELF;
  return one;
}

communicator communicator::world(std::chrono::nanoseconds timeout, watchdog& dog, thread_level wanted) {
  const int required = levels[static_cast<std::size_t>(wanted)];
  int provided = 0;
  {
    const watchdog::guard bounded(dog, "starting MPI (MPI_Init_thread)", timeout);
    check_mpi(MPI_Init_thread(nullptr, nullptr, required, &provided), "starting MPI");
  }
  communicator all;
  all.native_ = std::make_unique<native>();
  all.native_->comm = MPI_COMM_WORLD;
  all.native_->owns_mpi = true;
  all.native_->dog = &dog;
  all.native_->timeout = timeout;
  level_in_force = word_of(provided);
  if (provided < required)
    throw api_error("MPI", fmt::format("its highest thread level is {}", level_in_force), "starting MPI");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "setting the error handler");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &all.rank_), "asking for the rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &all.size_), "asking for the number of ranks");
  all.timeout_ = timeout;
  job_rank = all.rank_;
  rank_process mine{};
  host_name().copy(mine.host, sizeof mine.host - 1);
  boot_id().copy(mine.boot, sizeof mine.boot - 1);
  if (readlink("/proc/self/ns/pid", mine.numbers, sizeof mine.numbers - 1) < 0) mine.numbers[0] = '\0';
  mine.pid = static_cast<int>(getpid());
  mine.words = words = memfd_create("mgsync: why ranks end", MFD_CLOEXEC);
  const auto gathered =
      all.all_gather({reinterpret_cast<const char*>(&mine), sizeof mine}, "gathering processes");
  std::vector<rank_process> everyone(gathered.size());
  for (std::size_t i = 0; i < gathered.size(); ++i)
    everyone[i] = *reinterpret_cast<const rank_process*>(gathered[i].data());
  processes = std::move(everyone);
  processes_known = true;
#ifdef __GLIBC__
  if (all.size_ > 1) on_exit(tell_of_exit, nullptr);
#endif
  return all;
}

void communicator::barrier(std::string_view what) const {
  if (size_ == 1) return;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
}

std::vector<std::string> communicator::all_gather(std::string_view mine, std::string_view what) const {
  if (size_ == 1) return {std::string(mine)};
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<int> lengths(ranks);
  const int length = static_cast<int>(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
  std::vector<int> offsets(ranks, 0);
  std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  check_mpi(MPI_Iallgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                            MPI_CHAR, native_->comm, &request),
            what);
  wait_quietly(request, timeout_, what);
  std::vector<std::string> parts;
  for (std::size_t r = 0; r < ranks; ++r)
    parts.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return parts;
}

std::string communicator::broadcast(std::string value, int root, std::string_view what) const {
  if (size_ == 1) return value;
  int length = static_cast<int>(value.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(&length, 1, MPI_INT, root, native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
  value.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Ibcast(value.data(), length, MPI_CHAR, root, native_->comm, &request), what);
  wait_quietly(request, timeout_, what);
  return value;
}

template <class Make>
std::optional<communicator> communicator::made_by(std::string_view what, Make make) const {
  communicator part;
  part.timeout_ = timeout_;
  part.native_ = std::make_unique<native>();
  part.native_->dog = native_->dog;
  part.native_->timeout = native_->timeout;
  {
    const watched_call bounded(*native_, std::string(what));
    check_mpi(make(&part.native_->comm), what);
  }
  if (part.native_->comm == MPI_COMM_NULL) return std::nullopt;
  part.native_->owns_comm = true;
  check_mpi(MPI_Comm_rank(part.native_->comm, &part.rank_), "asking for the rank in a group");
  check_mpi(MPI_Comm_size(part.native_->comm, &part.size_), "asking for the ranks of a group");
  return part;
}

communicator communicator::split_by_host() const {
  if (size_ == 1) return single(timeout_);
  return *made_by("splitting the ranks by host (MPI_Comm_split_type)", [&](MPI_Comm* made) {
    return MPI_Comm_split_type(native_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, made);
  });
}

std::optional<communicator> communicator::split(int color) const {
  if (size_ == 1) return color < 0 ? std::nullopt : std::optional<communicator>(single(timeout_));
  return made_by("splitting the ranks (MPI_Comm_split)", [&](MPI_Comm* made) {
    return MPI_Comm_split(native_->comm, color < 0 ? MPI_UNDEFINED : color, rank_, made);
  });
}

communicator communicator::duplicate() const {
  if (size_ == 1) return single(timeout_);
  return *made_by("duplicating a communicator (MPI_Comm_dup)",
                  [&](MPI_Comm* made) { return MPI_Comm_dup(native_->comm, made); });
}

void communicator::abort(int code) const {
  if (native_ && processes.size() > 1) {
    const watched_call bounded(*native_, "ending all ranks (MPI_Abort)");
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  std::_Exit(code);
}

}  // namespace mgsync
