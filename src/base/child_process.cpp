#include "src/base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/unique_descriptor.hpp"
#include "src/base/watchdog.hpp"

extern char** environ;

namespace mgsync {
namespace {

using clock = std::chrono::steady_clock;

constexpr int exit_not_started = 127, exit_no_memory = 60, exit_exception = 61;  // of work: the last two

struct pipe_ends {
  unique_descriptor read, write;
};

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  check_errno(pipe2(ends.data(), O_CLOEXEC), "making a pipe to a child process");
  return {unique_descriptor(ends[0]), unique_descriptor(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string name(*each, std::strcspn(*each, "="));
    if (!more.contains(name)) all.emplace_back(*each);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::size_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void limit(int resource, rlim_t value) {
  rlimit bound{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &bound) != 0) return;
  bound.rlim_cur = bound.rlim_max == RLIM_INFINITY || value < bound.rlim_max ? value : bound.rlim_max;
  setrlimit(static_cast<__rlimit_resource>(resource), &bound);
}

// In the child: carries out the work. No destructor and no atexit handler of the parent may run here.
[[noreturn]] void do_work(const child_order& order, int out) {
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGALRM, SIGUSR1, SIGUSR2})
    std::signal(signal, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  if (const int null = open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (standard != out) dup2(null, standard);
  limit(RLIMIT_CORE, 0);
  if (order.memory) limit(RLIMIT_AS, mapped_bytes() + *order.memory);
  try {
    _exit(write_all(out, order.work()) ? 0 : exit_exception);
  } catch (const std::bad_alloc&) { _exit(exit_no_memory); } catch (...) {
    _exit(exit_exception);
  }
}

// A child under way, and what it has written so far.
class child {
 public:
  explicit child(const child_order& order) : order_(&order) { start(); }
  ~child() {
    if (id_ > 0) end_all();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  child_end wait() {
    if (id_ > 0) {
      read_until_it_ends();
      end_all();
    }
    return std::move(end_);
  }

 private:
  void start() {
    auto out = make_pipe(), err = make_pipe(), failure = make_pipe();
    auto words = order_->command, settings = environment_with(order_->environment);
    const auto arguments = pointers(words), variables = pointers(settings);
    const std::string file = order_->program.empty() && !words.empty() ? words.front() : order_->program;
    const pid_t parent = getpid();
    id_ = check_errno(fork(), "starting a child process");
    if (id_ == 0) {
      prctl(PR_SET_PDEATHSIG, order_->dies_by);
      if (getppid() != parent) _exit(exit_not_started);
      setpgid(0, 0);
      if (order_->work) do_work(*order_, out.write.get());
      const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
      dup2(null, STDIN_FILENO);
      dup2(order_->output_kept ? out.write.get() : null, STDOUT_FILENO);
      if (order_->output_kept) dup2(err.write.get(), STDERR_FILENO);
      execvpe(file.c_str(), arguments.data(), variables.data());
      const int why = errno;
      static_cast<void>(!write(failure.write.get(), &why, sizeof why));
      _exit(exit_not_started);
    }
    setpgid(id_, id_);  // in the child and here, since either may run first
    out.write = {};
    err.write = {};
    failure.write = {};
    out_ = std::move(out.read);
    err_ = std::move(err.read);
    int why = 0;
    if (!order_->work && read(failure.read.get(), &why, sizeof why) > 0) {
      waitpid(std::exchange(id_, -1), nullptr, 0);
      end_.death = fmt::format("{} cannot be started: {}", file, std::strerror(why));
      return;
    }
    end_.started = true;
  }

  // Whether it has ended. WNOWAIT leaves it a zombie, so that its process id is not reused yet.
  bool has_ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == id_;
  }

  // Appends what can be read now. False: the other end was closed.
  bool take(int descriptor, std::string& into) const {
    std::array<char, 65536> part;
    const auto got = read(descriptor, part.data(), part.size());
    if (got > 0) into.append(part.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  }
  bool too_much() const { return end_.out.size() + end_.err.size() > order_->most_output; }

  void read_until_it_ends() {
    std::optional<clock::time_point> killed_at;
    pollfd ends[] = {{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
    std::string* const into[] = {&end_.out, &end_.err};
    while (!has_ended()) {
      const auto now = clock::now();
      if (killed_at ? now >= *killed_at : is_told_to_end(now)) {
        if (killed_at || order_->grace.count() == 0) return;
        killed_at = now + std::chrono::duration_cast<clock::duration>(order_->grace);
      }
      poll(ends, 2, 5);
      for (std::size_t i = 0; i < 2; ++i)
        if ((ends[i].revents & (POLLIN | POLLHUP)) != 0 && !take(ends[i].fd, *into[i])) ends[i].fd = -1;
      if (too_much()) return;
    }
  }

  bool is_told_to_end(clock::time_point now) {
    end_.interrupted = signal_received() != 0;
    end_.outlived = !end_.interrupted && order_->longest && now - began_ > *order_->longest;
    if (!end_.interrupted && !end_.outlived) return false;
    if (order_->grace.count() > 0) kill(id_, end_.interrupted ? signal_received() : SIGTERM);
    return true;
  }

  // Kills the whole group, and keeps what is in the pipes without waiting for their ends: a grandchild that
  // left the group may hold them open.
  void end_all() {
    kill(-id_, SIGKILL);  // the id is not reused before waitpid()
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {}
    id_ = -1;
    for (const auto& [descriptor, text] : {std::pair{out_.get(), &end_.out}, {err_.get(), &end_.err}}) {
      fcntl(descriptor, F_SETFL, O_NONBLOCK);
      std::size_t before = 0;
      do { before = text->size(); } while (take(descriptor, *text) && text->size() != before && !too_much());
    }
    end_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    end_.death = death_of(status);
  }

  std::string death_of(int status) const {
    if (end_.interrupted) return "it was interrupted";
    if (end_.outlived)
      return fmt::format("it took longer than {:.3g} s",
                         std::chrono::duration<double>(*order_->longest).count());
    if (too_much()) return "its answer is too large";
    if (WIFSIGNALED(status)) return fmt::format("it crashed ({})", strsignal(WTERMSIG(status)));
    if (order_->work && WEXITSTATUS(status) == exit_no_memory) return "it asked for too much memory";
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("it ended with exit code {}", WEXITSTATUS(status));
  }

  const child_order* order_;
  const clock::time_point began_ = clock::now();
  pid_t id_ = -1;
  unique_descriptor out_, err_;
  child_end end_;
};

}  // namespace

child_end run_child(const child_order& order) { return child(order).wait(); }

std::string find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder) / program;
    if (access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace mgsync
