#include "topology/sources/bounded_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/unique_handle.hpp"

namespace mgsync::topology {
namespace {

struct fd_traits {
  using type = int;
  static type none() { return -1; }
  static void close(type fd) noexcept { ::close(fd); }
};
using fd_handle = unique_handle<fd_traits>;

constexpr int exit_finished = 0, exit_no_memory = 60, exit_exception = 61;

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

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Never returns: no destructor and no atexit handler of the parent may run here.
[[noreturn]] void be_child(int out, const std::function<std::string()>& work, const child_limits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGALRM, SIGUSR1, SIGUSR2})
    std::signal(signal, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  if (const int null = open("/dev/null", O_RDWR | O_CLOEXEC); null >= 0)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (standard != out) dup2(null, standard);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, mapped_bytes() + limits.memory_bytes);
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.time.count()) + 1);
  try {
    const std::string text = work();
    _exit(write_all(out, text) ? exit_finished : exit_exception);
  } catch (const std::bad_alloc&) { _exit(exit_no_memory); } catch (...) {
    _exit(exit_exception);
  }
}

std::string death_of(int status) {
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGXCPU) return "it took too long";
    return fmt::format("it crashed ({})", strsignal(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) == exit_no_memory) return "it asked for too much memory";
  return fmt::format("it ended with code {}", WEXITSTATUS(status));
}

// Reads until the child closes its end of the pipe; otherwise returns why it gave up.
std::string collect(int in, std::string& text, const child_limits& limits) {
  const auto deadline = std::chrono::steady_clock::now() + limits.time;
  std::array<char, 65536> part{};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fmt::format("it took longer than {} s", limits.time.count());
    pollfd waiting{in, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const auto got = read(in, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > limits.answer_bytes) return "its answer is too large";
  }
}

}  // namespace

child_answer run_in_child(const std::function<std::string()>& work, const child_limits& limits) {
  std::array<int, 2> ends{};
  check_errno(pipe2(ends.data(), O_CLOEXEC), "making a pipe to a child process");
  const fd_handle in(ends[0]);
  fd_handle out(ends[1]);
  const pid_t child = check_errno(fork(), "starting a child process");
  if (child == 0) be_child(out.get(), work, limits);
  out = fd_handle{};
  child_answer answer;
  answer.death = collect(in.get(), answer.text, limits);
  if (!answer.death.empty()) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) check_errno(-1, "waiting for a child process");
  if (answer.death.empty() && !(WIFEXITED(status) && WEXITSTATUS(status) == exit_finished))
    answer.death = death_of(status);
  answer.finished = answer.death.empty();
  return answer;
}

}  // namespace mgsync::topology
