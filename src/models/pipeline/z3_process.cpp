// Runs Z3 in a process of its own. Z3 ignores its interrupt while a problem is being built, and sometimes
// while it solves; a process can always be killed, which also frees its memory.
#include <unistd.h>
#include <z3++.h>

#include <cstring>
#include <exception>
#include <type_traits>

#include <fmt/format.h>

#include "src/base/child_process.hpp"
#include "src/models/pipeline/z3_solvers.hpp"

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

// The answer as one text: `solved`, and then its reason.
std::string solve(const machine& m, extent size, const search_space& space) {
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
  return text;
}

}  // namespace

bool has_z3() { return true; }

std::optional<search_answer> solve_with_z3(const machine& m, extent size, const search_space& space,
                                           std::chrono::milliseconds limit) {
  const auto begin = clock::now();
  // A tenth is left for ending a process with much memory.
  const auto child =
      run_child({.work = [&] { return solve(m, size, space); }, .longest = limit - limit / 10});
  search_answer answer;
  answer.how = search_answer::outcome::time_out;
  answer.reason = fmt::format("no answer within {} ms", limit.count());
  if (!child.outlived && !child.interrupted) {
    const auto& said = child.out;
    solved found;
    if (said.size() >= sizeof found) std::memcpy(&found, said.data(), sizeof found);
    if (said.size() >= sizeof found && !found.described) return std::nullopt;
    answer.how = found.how;
    answer.best = found.best;
    answer.time = found.time;
    answer.reason = said.size() < sizeof found
                        ? fmt::format("it ended, as where it needs more than {} MB of memory", most_memory_mb)
                        : said.substr(sizeof found);
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
