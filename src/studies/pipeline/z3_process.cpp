// Runs Z3 in a process of its own. Z3 ignores its interrupt while a problem is being built, and sometimes
// while it solves; a process can always be killed, which also frees its memory.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <z3++.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <type_traits>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/unique_descriptor.hpp"
#include "src/studies/pipeline/z3_solvers.hpp"

namespace mgsync::pipeline {

namespace {

using clock = std::chrono::steady_clock;

// What is sent through the pipe; the reason follows it.
struct solved {
  bool described = false;
  search_answer::outcome how = search_answer::outcome::unknown;
  configuration best;
  prediction time;
};
static_assert(std::is_trivially_copyable_v<solved>);

constexpr const char* most_memory_mb = "150";

[[noreturn]] void solve_and_leave(int to, const machine& m, extent size, const search_space& space) {
  solved found;
  std::string text(sizeof found, '\0');
  std::set_terminate([] { _exit(1); });  // Z3 throws from a destructor when memory runs out
  try {
    z3::set_param("memory_max_size", most_memory_mb);
    const auto answer =
        m.persistent ? std::optional(solve_persistent(m, size, space)) : solve_waves(m, size, space);
    if (answer) found = {true, answer->how, answer->best, answer->time};
    if (answer) text += answer->reason;
  } catch (const z3::exception& error) {
    found.described = true;
    text += error.msg();
  } catch (const std::exception& error) {
    found.described = true;
    text += error.what();
  }
  std::memcpy(text.data(), &found, sizeof found);
  for (std::size_t done = 0; done < text.size();) {
    const auto wrote = write(to, text.data() + done, text.size() - done);
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  _exit(0);
}

// Reads up to the end of the pipe; nothing where that has not come by `end`.
std::optional<std::string> read_until(int from, clock::time_point end) {
  std::string text;
  std::array<char, 4096> part;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
    pollfd ready{from, POLLIN, 0};
    const int found = left.count() > 0 ? poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) return std::nullopt;
    const auto got = read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// The answer of the other process, which is gone afterwards; nothing where it did not answer in time.
std::optional<std::string> asked_elsewhere(const machine& m, extent size, const search_space& space,
                                           clock::time_point end) {
  std::array<int, 2> ends{};
  check_errno(pipe2(ends.data(), O_CLOEXEC), "opening a pipe for the solver");
  unique_descriptor from(ends[0]), to(ends[1]);
  const pid_t parent = getpid(), child = fork();
  check_errno(child, "starting a process for the solver");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the solver is killed when its parent ends
    if (getppid() == parent) solve_and_leave(to.get(), m, size, space);
    _exit(1);
  }
  to = unique_descriptor();
  auto text = read_until(from.get(), end);
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  return text;
}

}  // namespace

bool has_z3() { return true; }

std::optional<search_answer> solve_with_z3(const machine& m, extent size, const search_space& space,
                                           std::chrono::milliseconds limit) {
  const auto begin = clock::now();
  const auto said = asked_elsewhere(
      m, size, space, begin + limit - limit / 10);  // a tenth is left for ending a process with much memory
  search_answer answer;
  answer.how = search_answer::outcome::time_out;
  answer.reason = fmt::format("no answer within {} ms", limit.count());
  if (said) {
    solved found;
    if (said->size() >= sizeof found) std::memcpy(&found, said->data(), sizeof found);
    if (said->size() >= sizeof found && !found.described) return std::nullopt;
    answer.how = found.how;
    answer.best = found.best;
    answer.time = found.time;
    answer.reason = said->size() < sizeof found
                        ? fmt::format("it ended, as where it needs more than {} MB of memory", most_memory_mb)
                        : said->substr(sizeof found);
    if (found.how == search_answer::outcome::optimal) answer.ties = {answer.best};
  }
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  answer.by = fmt::format("Z3 {}.{}.{}", major, minor, build);
  answer.tried = candidates(m, space).size();
  answer.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return answer;
}

}  // namespace mgsync::pipeline
