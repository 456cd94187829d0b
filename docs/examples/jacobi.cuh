// A Jacobi iteration on a plate of rows x columns, its rows divided among GPUs: every cell becomes the mean of its four
// neighbours. Whoever computes the first or last row of a GPU also writes it into the neighbour's halo.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// One GPU's rows, twice, each with a halo row above and below.
struct jacobi_part {
  float* cells[2];
  float* up[2];    // the neighbours' lowest and highest halo row; nullptr at the plate's edge
  float* down[2];
  unsigned rows;
  unsigned columns;
};

inline unsigned rows_of(unsigned gpu, unsigned gpus, unsigned rows) { return rows / gpus + (gpu < rows % gpus ? 1 : 0); }

// No const __restrict__ here: the halo changes while the kernel runs.
__device__ inline void jacobi_step(const jacobi_part& part, unsigned from) {
  for (unsigned row = 1 + blockIdx.x; row <= part.rows; row += gridDim.x) {
    const float* const above = part.cells[from] + std::size_t{row - 1} * part.columns;
    const float* const here = above + part.columns;
    const float* const below = here + part.columns;
    float* const to = part.cells[1 - from] + std::size_t{row} * part.columns;
    float* const to_up = row == 1 ? part.up[1 - from] : nullptr;
    float* const to_down = row == part.rows ? part.down[1 - from] : nullptr;
    for (unsigned c = 1 + threadIdx.x; c < part.columns - 1; c += blockDim.x) {
      const float mean = 0.25f * (above[c] + below[c] + here[c - 1] + here[c + 1]);
      to[c] = mean;
      if (to_up != nullptr) to_up[c] = mean;
      if (to_down != nullptr) to_down[c] = mean;
    }
  }
}

// The whole time loop in one kernel.
__global__ void jacobi(mgsync::multi_grid_handle handle, jacobi_part part, unsigned steps) {
  auto grids = mgsync::this_multi_grid(handle);
  for (unsigned step = 0; step < steps; ++step) {
    jacobi_step(part, step % 2);
    if (!grids.sync()) return;  // given up: grids.wait() says why on the host
  }
}

// The plate in the memory of a group's GPUs: its upper edge at 1, all else at 0.
class plate {
 public:
  plate(mgsync::multi_grid& grids, unsigned rows, unsigned columns)
      : grids_(grids), rows_(rows), columns_(columns), memory_(grids.allocate(2 * buffer_bytes(0))) {
    for (unsigned local = 0; local < grids.local_gpus(); ++local) {
      const jacobi_part part = this->part(local);
      const std::vector<float> ones(columns, 1.0f);
      check(cudaSetDevice(grids.ordinal(local)), "selecting a GPU");
      for (float* buffer : part.cells)
        if (grids.grid_rank(local) == 0)
          check(cudaMemcpy(buffer, ones.data(), columns * sizeof(float), cudaMemcpyHostToDevice), "setting the edge");
    }
  }

  // What GPU number `local` of this process works on, as it addresses it.
  jacobi_part part(unsigned local) const {
    const unsigned me = grids_.grid_rank(local);
    jacobi_part made{{}, {}, {}, own_rows(me), columns_};
    for (unsigned b = 0; b < 2; ++b) {
      made.cells[b] = row(me, local, b, 0);
      made.up[b] = me > 0 ? row(me - 1, local, b, own_rows(me - 1) + 1) : nullptr;
      made.down[b] = me + 1 < grids_.gpus() ? row(me + 1, local, b, 0) : nullptr;
    }
    return made;
  }

  // The rows of this process's GPUs after `steps` steps.
  std::vector<float> result(unsigned steps) const {
    std::vector<float> all;
    for (unsigned local = 0; local < grids_.local_gpus(); ++local) {
      const jacobi_part p = part(local);
      const std::size_t cells = std::size_t{p.rows} * columns_, before = all.size();
      all.resize(before + cells);
      check(cudaSetDevice(grids_.ordinal(local)), "selecting a GPU");
      check(cudaMemcpy(all.data() + before, p.cells[steps % 2] + columns_, cells * sizeof(float), cudaMemcpyDeviceToHost),
            "reading the plate");
    }
    return all;
  }

 private:
  unsigned own_rows(unsigned gpu) const { return rows_of(gpu, grids_.gpus(), rows_); }
  std::size_t buffer_bytes(unsigned gpu) const { return (own_rows(gpu) + 2) * std::size_t{columns_} * sizeof(float); }
  float* row(unsigned gpu, unsigned local, unsigned buffer, unsigned r) const {
    return memory_.part_as<float>(gpu, local) + buffer * (buffer_bytes(gpu) / sizeof(float)) + std::size_t{r} * columns_;
  }

  mgsync::multi_grid& grids_;
  unsigned rows_, columns_;
  mgsync::multi_grid_memory memory_;
};

// As many blocks of 256 threads as the GPU holds at once, at most one per row.
inline unsigned blocks_for(unsigned rows) {
  int per_sm = 0, sms = 0, device = 0;
  check(cudaGetDevice(&device), "asking for the GPU");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, jacobi, 256, 0), "asking for the occupancy");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "counting SMs");
  const unsigned most = static_cast<unsigned>(per_sm * sms);
  return rows < most ? rows : most;
}
