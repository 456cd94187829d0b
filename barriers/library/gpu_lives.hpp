// Whether what a group made on its GPUs is still there: a program may fork, and may reset a GPU.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync::library {

// Remembers the GPUs of a group in this process as they were when something was made on them.
class gpu_lives {
 public:
  void add(int ordinal) { known_.emplace_back(ordinal, cuda::life_of(ordinal)); }
  // A GPU that the program has reset since then, or nothing.
  std::optional<int> reset_since() const {
    for (const auto& [ordinal, life] : known_)
      if (cuda::life_of(ordinal) != life) return ordinal;
    return std::nullopt;
  }
  void must_go_on() const {
    if (const auto gone = reset_since())
      throw usage_error(
          filled("GPU {} was reset (cudaDeviceReset) after the group was made, which took what the "
                 "group had there: make another group",
                 *gone));
  }
  // Whether an object on these GPUs can be destroyed in this process: not in a forked child, and not after a
  // GPU was reset. If not, it is leaked and left to the system.
  bool can_destroy() const noexcept {
    if (made_in_ != getpid()) return false;
    try {
      return !reset_since();
    } catch (const std::exception&) { return false; }
  }

 private:
  pid_t made_in_ = getpid();
  std::vector<std::pair<int, unsigned long long>> known_;
};

}  // namespace mgsync::library
