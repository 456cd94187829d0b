#include "topology/pinning.hpp"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "topology/cpu_list.hpp"

namespace mgsync::topology {
namespace {

constexpr int most_cpus = max_cpu + 1;

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

bool restrict_this_thread(const std::vector<int>& cpus) {
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

pin_result pin_this_thread(int cpu) {
  pin_result result;
  const bool accepted = restrict_this_thread({cpu});
  const int error = accepted ? 0 : errno;
  result.mask = allowed_cpus();
  // Once the mask is in force the kernel has moved the thread: the call returns on the new CPU.
  if (const int now = sched_getcpu(); now >= 0) result.cpu = now;
  result.pinned = accepted && result.mask == std::vector<int>{cpu} && result.cpu == cpu;
  if (!accepted) {
    result.reason = fmt::format("the kernel refused to pin to CPU {}: {}", cpu, std::generic_category().message(error));
  } else if (!result.pinned) {
    result.reason = fmt::format("pinning to CPU {} did not take effect: mask {}, running on CPU {}", cpu,
                                write_cpu_list(result.mask), result.cpu ? std::to_string(*result.cpu) : "unknown");
  }
  return result;
}

}  // namespace mgsync::topology
