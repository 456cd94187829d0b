// mgsync_blocking_case KEY=VALUE...: carries out one case of the study blocking, in a process that may hang,
// trap and be killed. mgsync starts it and reads its stdout with case_seen_from().
#include <signal.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "src/base/standard_streams.hpp"
#include "src/studies/blocking/case_board.hpp"
#include "src/studies/blocking/host_cases.hpp"
#if MGSYNC_WITH_CUDA
#include "src/studies/blocking/gpu_cases.hpp"
#endif

namespace {

// Reports what a verdict on the host depends on, besides the library that the case names.
void say_what_it_was_built_with() {
  utsname machine{};
  uname(&machine);
  mgsync::blocking::say_line(fmt::format("found architecture {}", machine.machine));
#if defined(__clang__)
  mgsync::blocking::say_line(fmt::format("found toolkit clang {}.{}", __clang_major__, __clang_minor__));
#else
  mgsync::blocking::say_line(fmt::format("found toolkit gcc {}.{}", __GNUC__, __GNUC_MINOR__));
#endif
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mgsync;
  using namespace mgsync::blocking;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends when its parent does
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    const auto asked = case_from(words);
    const auto* known = find_method(asked.level, asked.method);
    if (known->device == topology::device::host) say_what_it_was_built_with();
    if (asked.level == "thread") run_thread_case(asked);
    if (asked.level == "member") run_openmp_case(asked);
#if MGSYNC_WITH_MPI
    if (asked.level == "rank") run_rank_case(asked);
#endif
#if MGSYNC_WITH_CUDA
    run_gpu_case(asked);
#endif
    fmt::print("found waived this build has no case of level {}\n", asked.level);
  } catch (const std::invalid_argument& error) {
    say("mgsync_blocking_case: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print("found error {}\n", error.what());
    return 1;
  }
  return 0;
}
