// A graph of one kernel that launches itself again from the device a given number of times. In a file of its
// own, since it is linked with the device runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "src/studies/launch/kernels.hpp"

namespace mgsync::launch {

class self_launching_graph {
 public:
  virtual ~self_launching_graph() = default;
  // Sets how many launches the next launch() makes, and what each of them waits for; called before the clock
  // starts.
  virtual void arm(std::uint64_t count, const waiting&) = 0;
  virtual void launch() = 0;
};

// Makes the graph on the current GPU; `stream` must outlive it.
std::unique_ptr<self_launching_graph> make_self_launching(unsigned blocks, unsigned threads,
                                                          cudaStream_t stream);

}  // namespace mgsync::launch
