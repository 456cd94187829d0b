#include "src/base/standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace mgsync {

namespace {

// Nobody reads from the pipe or socket, or nobody sits at the terminal, any more.
bool has_no_reader(int descriptor) {
  pollfd seen{descriptor, POLLOUT, 0};
  return poll(&seen, 1, 0) > 0 && (seen.revents & (POLLERR | POLLHUP)) != 0;
}

// Waits up to a second for a descriptor that another process may have made non-blocking.
bool has_room(int descriptor) {
  pollfd seen{descriptor, POLLOUT, 0};
  return poll(&seen, 1, 1000) > 0;
}

std::atomic<int> why_stdout_failed = 0;  // errno of the write that failed: it is overwritten before the end

extern "C" void pass_over(int) {}

}  // namespace

void open_standard_streams() noexcept {
  // The lowest free number is given out, so each of the three gets its own.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) static_cast<void>(open("/dev/null", O_RDWR));
}

void outlive_readers() noexcept {
  // An empty handler rather than SIG_IGN, because child processes would inherit SIG_IGN.
  struct sigaction action {};
  action.sa_handler = pass_over;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &action, nullptr);
}

void put_on_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    else if (written < 0 && errno == EINTR) continue;
    else if (written == 0 || errno != EAGAIN || !has_room(STDERR_FILENO)) return;
  }
}

void put_on_stdout(std::string_view text) noexcept {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    why_stdout_failed = errno;
}

bool is_of_stdout(const std::exception& thrown) noexcept {
  const auto* of_the_system = dynamic_cast<const std::system_error*>(&thrown);
  if (of_the_system == nullptr || std::ferror(stdout) == 0) return false;
  why_stdout_failed = of_the_system->code().value();
  return true;
}

int end_of_stdout(int code) noexcept {
  if (std::fflush(stdout) != 0) why_stdout_failed = errno;
  if (std::ferror(stdout) == 0) return code;
  const int why = why_stdout_failed;
  if (!has_no_reader(STDOUT_FILENO)) {
    say("mgsync: stdout could not be written{}{}: what it was to get is lost, or a part of it\n",
        why == 0 ? "" : ", ", why == 0 ? "" : std::strerror(why));
    return code != 0 ? code : 1;
  }
  if (code != 0) return code;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return 1;  // reached only where SIGPIPE is blocked
}

}  // namespace mgsync
