#include "src/studies/blocking/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "src/base/unique_descriptor.hpp"
#include "src/base/watchdog.hpp"

extern char** environ;

namespace mgsync::blocking {
namespace {

using clock = std::chrono::steady_clock;

struct pipe_ends {
  unique_descriptor read, write;
};

pipe_ends make_pipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
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

// Appends what can be read now; false where the other end was closed.
bool take(int descriptor, std::string& into) {
  char buffer[4096];
  const auto got = read(descriptor, buffer, sizeof buffer);
  if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// Reads what is in the pipe without waiting for its end: a grandchild that still runs may hold it open.
void drain(int descriptor, std::string& into) {
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  for (std::size_t before = into.size();; before = into.size()) {
    if (!take(descriptor, into) || into.size() == before) return;
  }
}

// Whether the child has ended. WNOWAIT leaves it a zombie, so that its process id is not reused yet.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == child;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

child_end run_child(const std::vector<std::string>& command,
                    const std::map<std::string, std::string>& environment,
                    std::chrono::milliseconds longest) {
  child_end end;
  auto out = make_pipe(), err = make_pipe();
  auto words = command, settings = environment_with(environment);
  const auto arguments = pointers(words), variables = pointers(settings);
  auto failure = make_pipe();
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    // SIGTERM when the parent ends: an MPI launcher then ends its ranks too.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(out.write.get(), STDOUT_FILENO);
    dup2(err.write.get(), STDERR_FILENO);
    execvpe(arguments.front(), arguments.data(), variables.data());
    const int why = errno;
    static_cast<void>(!write(failure.write.get(), &why, sizeof why));
    _exit(127);
  }
  int why = child < 0 ? errno : 0;
  out.write = {};
  err.write = {};
  failure.write = {};
  if (child > 0 && read(failure.read.get(), &why, sizeof why) > 0) waitpid(child, nullptr, 0);
  if (why != 0) {
    end.err = fmt::format("{} cannot be started: {}", command.front(), std::strerror(why));
    return end;
  }
  end.started = true;
  setpgid(child, child);  // in the child and here, since either may run first
  const auto deadline = clock::now() + longest;
  int status = 0;
  pollfd ends[] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
  while (!has_ended(child)) {
    end.interrupted = signal_received() != 0;
    end.outlived = clock::now() > deadline;
    if (end.interrupted || end.outlived) { break; }
    poll(ends, 2, 5);
    if ((ends[0].revents & (POLLIN | POLLHUP)) != 0 && !take(ends[0].fd, end.out)) ends[0].fd = -1;
    if ((ends[1].revents & (POLLIN | POLLHUP)) != 0 && !take(ends[1].fd, end.err)) ends[1].fd = -1;
  }
  kill(-child, SIGKILL);  // the whole group; the id is not reused before waitpid()
  waitpid(child, &status, 0);
  drain(out.read.get(), end.out);
  drain(err.read.get(), end.err);
  end.code = code_of(status);
  return end;
}

std::string find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder) / program;
    if (access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

}  // namespace mgsync::blocking
