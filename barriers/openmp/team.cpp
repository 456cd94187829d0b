#include "barriers/openmp/team.hpp"

#include <atomic>
#include <cstddef>

#include <fmt/format.h>
#include <omp.h>

#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"
#include "src/base/units.hpp"

namespace mgsync {

namespace {

// Bytes by which the next team's memory is moved: no multiple of a page, and few enough that malloc does not
// map them separately.
std::size_t next_displacement() {
  static std::atomic<unsigned> made = 0;
  return (1 + made.fetch_add(1) % 13) * 4160;
}

}  // namespace

openmp_team::openmp_team(std::vector<int> cpus) : cpus_(std::move(cpus)), starter_({-1}) {
  starter_.run([this](unsigned) {
    displaced_.resize(next_displacement());
    allowed_ = allowed_cpus();
  });
}

// OMP_DYNAMIC is overruled: it would let the size depend on the load of the machine.
void openmp_team::fork(const std::function<void(unsigned)>* work) {
  const int wanted = static_cast<int>(cpus_.size());
  omp_set_dynamic(0);
  // A team's threads begin where the one that makes them may run. The team before left it pinned to the first
  // member's CPU: there all would spin until everybody has come, a time slice each (8 ms a thread).
  if (!allowed_.empty()) restrict_calling_thread(allowed_);
#pragma omp parallel num_threads(wanted)
  {
    const int self = omp_get_thread_num();
    if (self == 0) size_ = omp_get_num_threads();
#pragma omp barrier
    if (work != nullptr && size_ == wanted) {
      const int cpu = cpus_[static_cast<std::size_t>(self)];
      if (const auto refused = cpu < 0 ? std::string() : pin_calling_thread(cpu); !refused.empty()) {
#pragma omp critical
        refused_ = refused;
      }
#pragma omp barrier
      if (refused_.empty()) (*work)(static_cast<unsigned>(self));
    }
  }
  omp_pause_resource_all(omp_pause_soft);
}

std::string openmp_team::why_smaller() {
  int limit = 0, levels = 0;
  starter_.run([&](unsigned) {
    fork(nullptr);
    limit = omp_get_thread_limit();
    levels = omp_get_max_active_levels();
  });
  const int wanted = static_cast<int>(cpus_.size());
  if (size_ == wanted) return {};
  auto sentence =
      fmt::format("OpenMP gives a team of {} where {} were asked for", counted(size_, "thread"), wanted);
  if (limit < wanted) return sentence + fmt::format(": OMP_THREAD_LIMIT is {}", limit);
  if (levels < 1) return sentence + ": OMP_MAX_ACTIVE_LEVELS is 0";
  return sentence;
}

void openmp_team::run(const std::function<void(unsigned)>& work) {
  starter_.run([&](unsigned) { fork(&work); });
  if (!refused_.empty()) throw api_error("system", refused_, "pinning the threads of an OpenMP team");
  if (size_ != static_cast<int>(cpus_.size()))
    throw api_error("OpenMP", fmt::format("a team of {} threads instead of {}", size_, cpus_.size()),
                    "starting a team");
}

}  // namespace mgsync
