// A case of the study blocking in its own process, which may hang, trap and be killed.
#include <sys/utsname.h>

#include <fmt/format.h>

#include "src/studies/blocking/case_board.hpp"
#include "src/studies/blocking/host_cases.hpp"
#if MGSYNC_WITH_CUDA
#include "src/studies/blocking/gpu_cases.hpp"
#endif

namespace mgsync::blocking {
namespace {

// Reports what a verdict on the host depends on, besides the library that the case names.
void tell_what_it_was_built_with() {
  utsname machine{};
  uname(&machine);
#if defined(__clang__)
  const auto compiler = fmt::format("clang {}.{}", __clang_major__, __clang_minor__);
#else
  const auto compiler = fmt::format("gcc {}.{}", __GNUC__, __GNUC_MINOR__);
#endif
  tell({.found = {{"architecture", machine.machine}, {"toolkit", compiler}}});
}

}  // namespace

void carry_out_in_child(std::string_view json) {
  const auto asked = case_from(json);
  if (find_method(asked.level, asked.method)->device == topology::device::host) tell_what_it_was_built_with();
  try {
    if (asked.level == "thread") run_thread_case(asked);
    if (asked.level == "member") run_openmp_case(asked);
#if MGSYNC_WITH_MPI
    if (asked.level == "rank") run_rank_case(asked);
#endif
#if MGSYNC_WITH_CUDA
    run_gpu_case(asked);
#endif
    tell_found("waived", fmt::format("this build has no case of level {}", asked.level));
  } catch (const std::exception& error) { tell_found("error", error.what()); }
}

}  // namespace mgsync::blocking
