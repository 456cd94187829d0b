// What a process is about to launch, and whether all processes of a group launch the same: they find out
// before any kernel runs, since kernels that do not belong together would wait until their time-out.
#pragma once

#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace mgsync::library {

struct launch_plan {
  unsigned blocks = 0;                 // of every GPU
  std::string kernel{};                // as CUDA calls it; empty: none is named yet, or CUDA does not tell
  dim3 grid{0, 0, 0}, block{0, 0, 0};  // of a launch
  std::string algorithm{};             // that of the barrier, and why

  std::string bytes() const;
  static launch_plan of_bytes(const std::string&);  // throws usage_error for bytes that are no plan
  bool operator==(const launch_plan&) const;  // a plan that names no kernel is equal to any with its blocks
  std::string written() const;                // "16 blocks of 256 threads of step(float*)"
};

// Why plans, one per process, are not of one launch, naming the first that differs from process 0's; empty
// if they are.
std::string why_not_one_launch(const std::vector<launch_plan>&);

// How many blocks fit on `part` of a GPU's `sms` SMs, if `on_all` fit on all of them.
constexpr unsigned fit_on_part(unsigned on_all, unsigned part, unsigned sms) {
  return static_cast<unsigned>(static_cast<unsigned long long>(on_all) * part / sms);
}

// "8", or "(4, 2, 1)".
std::string written(const dim3&);
inline unsigned volume(const dim3& d) { return d.x * d.y * d.z; }
inline bool alike(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

}  // namespace mgsync::library
