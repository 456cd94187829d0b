// A graph of one kernel that launches itself again from the device, as often as it is told to. In a file of
// its own: it is linked with the device runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "src/studies/launch/kernels.hpp"

namespace mgsync::launch {

class self_launching_graph {
 public:
  virtual ~self_launching_graph() = default;
  // Before the clock starts: how many launches the next launch() is, and what each of them waits for.
  virtual void arm(std::uint64_t count, const waiting&) = 0;
  virtual void launch() = 0;
};

// On the current GPU; `stream` outlives it.
std::unique_ptr<self_launching_graph> make_self_launching(unsigned blocks, unsigned threads,
                                                          cudaStream_t stream);

}  // namespace mgsync::launch
