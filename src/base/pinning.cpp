#include "src/base/pinning.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include <cerrno>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mgsync {

namespace {

struct free_set {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

// Room for machines with more CPUs than the 1024 of a fixed cpu_set_t.
struct dynamic_set {
  std::unique_ptr<cpu_set_t, free_set> set{CPU_ALLOC(most_cpus)};
  std::size_t size = CPU_ALLOC_SIZE(most_cpus);
  dynamic_set() { CPU_ZERO_S(size, set.get()); }
};

}  // namespace

std::vector<int> allowed_cpus() {
  dynamic_set mask;
  std::vector<int> cpus;
  if (sched_getaffinity(0, mask.size, mask.set.get()) != 0) return cpus;
  for (int cpu = 0; cpu < most_cpus; ++cpu)
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), mask.size, mask.set.get())) cpus.push_back(cpu);
  return cpus;
}

bool restrict_calling_thread(const std::vector<int>& cpus) {
  dynamic_set mask;
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= most_cpus) {
      errno = EINVAL;
      return false;
    }
    CPU_SET_S(static_cast<std::size_t>(cpu), mask.size, mask.set.get());
  }
  return sched_setaffinity(0, mask.size, mask.set.get()) == 0;
}

std::string pin_calling_thread(int cpu) {
  if (!restrict_calling_thread({cpu}))
    return fmt::format("the kernel refused to pin to CPU {}: {}", cpu,
                       std::generic_category().message(errno));
  // By the time that sched_setaffinity returns, the kernel has moved the thread to the new CPU.
  const auto mask = allowed_cpus();
  if (mask == std::vector<int>{cpu} && sched_getcpu() == cpu) return {};
  return fmt::format("pinning to CPU {} did not take effect: the mask is {}, and the thread runs on CPU {}",
                     cpu, fmt::join(mask, ","), sched_getcpu());
}

running_time running_time_now() {
  rusage used{};
  timespec cpu{};
  if (getrusage(RUSAGE_THREAD, &used) != 0 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0) return {};
  return {std::chrono::seconds(cpu.tv_sec) + std::chrono::nanoseconds(cpu.tv_nsec),
          static_cast<std::uint64_t>(used.ru_nvcsw), static_cast<std::uint64_t>(used.ru_nivcsw)};
}

std::optional<double> share_taken(const running_time& before, const running_time& after,
                                  std::chrono::nanoseconds elapsed) {
  if (after.given_up != before.given_up || elapsed.count() <= 0) return std::nullopt;
  if (after.taken_away == before.taken_away) return 0;
  return std::max(0.0, 1 - std::chrono::duration<double>(after.cpu - before.cpu) /
                               std::chrono::duration<double>(elapsed));
}

}  // namespace mgsync
