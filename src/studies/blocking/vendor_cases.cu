// NVIDIA's multi-grid barrier, from which some are absent. Compiled separately by an nvcc older than 13
// (C++17, -rdc=true, device-linked with cudadevrt) into the cubin that vendor_case.cpp loads; no part of the
// program itself.
#include <cooperative_groups.h>

#include "src/studies/blocking/gpu_board.cuh"

namespace {

using namespace mgsync::blocking;

struct with_multi_grid {
  cooperative_groups::multi_grid_group& grids;
  __device__ bool meet(bool) {
    grids.sync();
    return true;
  }
  __device__ void wait_elsewhere() { grids.sync(); }
  __device__ void drop() {}
};

template <bool Predicated>
__device__ void be_in_case(const gpu_board& b, bool whole_gpus) {
  auto grids = cooperative_groups::this_multi_grid();
  const unsigned gpu = grids.grid_rank();
  with_multi_grid barrier{grids};
  take_part<Predicated>(b, whole_gpus ? gpu : gpu * gridDim.x + blockIdx.x,
                        threadIdx.x == 0 && (!whole_gpus || blockIdx.x == 0), barrier);
}

}  // namespace

// What the loader compares with its own, so that a cubin of another version is refused; and what made it.
extern "C" __device__ const unsigned mgsync_vendor_case_abi =
    sizeof(gpu_board) + sizeof(gpu_progress) + sizeof(gpu_counts);
extern "C" __device__ const unsigned mgsync_vendor_case_toolkit =
    __CUDACC_VER_MAJOR__ * 10 + __CUDACC_VER_MINOR__;

extern "C" __global__ void mgsync_vendor_case_branch(gpu_board b, bool whole_gpus) {
  be_in_case<false>(b, whole_gpus);
}
extern "C" __global__ void mgsync_vendor_case_predicated(gpu_board b, bool whole_gpus) {
  be_in_case<true>(b, whole_gpus);
}
