// What tests of the library start from: groups of the first GPUs, what their kernels found, and whether they
// are barriers.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <mgsync/multi_grid.hpp>

#include "tests/gpu/library_kernels.hpp"

namespace mgsync::test {

constexpr unsigned nobody = 1u << 30;  // no block, and no grid, has this number

inline std::vector<int> first_gpus(int count) {
  std::vector<int> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(i);
  return gpus;
}

inline unsigned sms() {
  int count = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  return static_cast<unsigned>(count);
}

// One GPU's findings, in mapped host memory.
class found_by {
 public:
  explicit found_by(unsigned gpus) : gpus_(gpus) {
    void* made = nullptr;
    EXPECT_EQ(cudaHostAlloc(&made, gpus * sizeof(findings), cudaHostAllocPortable | cudaHostAllocMapped),
              cudaSuccess);
    all_ = static_cast<findings*>(made);
    std::fill_n(all_, gpus, findings{});
  }
  ~found_by() { cudaFreeHost(all_); }
  found_by(const found_by&) = delete;
  found_by& operator=(const found_by&) = delete;
  findings* of(unsigned gpu) { return all_ + gpu; }
  unsigned long long wrong() const {
    unsigned long long sum = 0;
    for (unsigned g = 0; g < gpus_; ++g) sum += all_[g].wrong + all_[g].given_up;
    return sum;
  }

 private:
  unsigned gpus_;
  findings* all_ = nullptr;
};

class board_of {
 public:
  board_of(multi_grid& grids, unsigned blocks) : memory_(grids.allocate(2 * blocks * sizeof(std::uint32_t))) {
    for (unsigned g = 0; g < grids.gpus(); ++g) slots_.parts[g] = memory_.part_as<std::uint32_t>(g);
  }
  board slots() const { return slots_; }

 private:
  multi_grid_memory memory_;
  board slots_{};
};

inline void expect_sound(multi_grid& grids, dim3 blocks, dim3 threads, way how, unsigned launches,
                         unsigned rounds, const std::vector<cudaStream_t>& streams = {}) {
  const unsigned count = blocks.x * blocks.y * blocks.z, size = threads.x * threads.y * threads.z;
  board_of board(grids, count);
  found_by found(grids.gpus());
  for (unsigned i = 0; i < launches; ++i)
    grids.launch_each(check_rounds_kernel(how), blocks, threads, 0, streams, [&](unsigned local) {
      return std::tuple(board.slots(), 1 + i * rounds, rounds, how, found.of(local));
    });
  grids.wait();
  EXPECT_EQ(found.wrong(), 0u) << grids.algorithm();
  for (unsigned g = 0; g < grids.gpus(); ++g) {
    EXPECT_EQ(found.of(g)->size, grids.gpus() * count * size);
    EXPECT_EQ(found.of(g)->grids, grids.gpus());
    EXPECT_EQ(found.of(g)->ranks, launches * count * size);
  }
}

}  // namespace mgsync::test
