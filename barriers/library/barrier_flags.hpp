// The flags of a library group's barrier in GPU memory, each block's record, and the handles that kernels are passed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "barriers/library/include/mgsync/multi_grid_handle.hpp"
#include "barriers/library/members.hpp"
#include "src/base/cuda.hpp"

namespace mgsync::library {

class barrier_flags {
 public:
  // Collective. Throws unsupported_error where a GPU cannot address another.
  barrier_flags(const group_members&, std::chrono::nanoseconds timeout);

  // As new, for `blocks` per GPU. No kernel of this process uses them, and none of another before all processes are done.
  void start(unsigned blocks);
  unsigned blocks() const { return blocks_; }
  const multi_grid_handle& handle(unsigned local) const { return handles_[local]; }
  multi_grid_handle& handle(unsigned local) { return handles_[local]; }
  const std::string& algorithm() const { return why_; }

  bool given_up() const;
  void give_up();
  // Which GPUs and blocks had not arrived when the others gave up. Kernels of this process have ended.
  std::string who_is_missing() const;

 private:
  std::vector<multi_grid_block> records_of(unsigned local) const;

  gpu_members members_;
  std::vector<unsigned> local_;
  unsigned fewest_sms_;
  std::uint32_t patience_;
  cuda::memory abort_;
  std::unique_ptr<gpu_memory> flags_;
  std::vector<cuda::memory> records_;
  std::vector<multi_grid_handle> handles_;
  std::string why_;
  unsigned blocks_ = 0;
};

}  // namespace mgsync::library
