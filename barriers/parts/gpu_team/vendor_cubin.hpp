// Kernels with NVIDIA's own multi-grid barrier. CUDA 13 no longer compiles it, so they come from a cubin that
// an older nvcc made (MGSYNC_LEGACY_NVCC builds it, MGSYNC_VENDOR_CUBIN takes one built elsewhere;
// docs/vendor-barrier.md).
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace mgsync::gpu_team {

// What a user of the cubin looks for in it. Each part holds a number that changes with the parameters of its
// kernels, so that a cubin of another version is refused.
struct vendor_part {
  const char* version_name;
  std::size_t version;
  const char* refusal;  // for a cubin without this part, or with another version
};

// The cubin on one GPU: loaded once per process, and never unloaded, since that would wait for everything on
// the GPU. Called from one thread.
class vendor_cubin {
 public:
  // Why there is none is left in `reason`: this build has no cubin, or it is not for this GPU, or not with
  // this part.
  vendor_cubin(int ordinal, const vendor_part&, std::string& reason);

  CUfunction kernel(const char* name) const;
  unsigned number(const char* name) const;  // 0: none of that name

 private:
  int ordinal_;
  CUmodule module_ = nullptr;
};

// How many blocks of a kernel fit on an SM of its GPU.
int blocks_on_an_sm(CUfunction, unsigned threads);

}  // namespace mgsync::gpu_team
