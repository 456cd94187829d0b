// A Jacobi iteration on a plate of rows x columns, its rows divided among GPUs: every cell becomes the mean
// of its four neighbours. Whoever computes the first or last row of a GPU also writes it into the neighbour's
// halo.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

#include "gpus.hpp"

// One state of a GPU's rows, with a halo row above and below, and where its first and last row go as well.
struct jacobi_state {
  float* cells;
  float* up;  // the neighbours' lowest and highest halo row; nullptr at the plate's edge
  float* down;
};

// One GPU's share: every step makes one state from the other.
struct jacobi_part {
  jacobi_state states[2];
  unsigned rows;
  unsigned columns;
};

inline unsigned rows_of(unsigned gpu, unsigned gpus, unsigned rows) {
  return rows / gpus + (gpu < rows % gpus ? 1 : 0);
}

__device__ inline void copy_row(const float* from, float* to, unsigned columns) {
  if (to == nullptr) return;
  for (unsigned c = 1 + threadIdx.x; c < columns - 1; c += blockDim.x) to[c] = from[c];
}

// What is read is not declared __restrict__: the halo changes while the kernel runs.
__device__ inline void jacobi_step(const float* from, const jacobi_state& next, unsigned rows,
                                   unsigned columns) {
  for (unsigned row = 1 + blockIdx.x; row <= rows; row += gridDim.x) {
    const float* const above = from + std::size_t{row - 1} * columns;
    const float* const here = above + columns;
    const float* const below = here + columns;
    float* __restrict__ const to = next.cells + std::size_t{row} * columns;
    // The neighbour's halo is written in the same pass: with a second pass over the row this block would be
    // the last to arrive.
    float* __restrict__ const halo = row == 1 ? next.up : row == rows ? next.down : nullptr;
#pragma unroll 1
    for (unsigned c = 1 + threadIdx.x; c < columns - 1; c += blockDim.x) {
      const float cell = 0.25f * (above[c] + below[c] + here[c - 1] + here[c + 1]);
      to[c] = cell;
      if (halo != nullptr) halo[c] = cell;
    }
    if (row == 1 && row == rows) copy_row(to, next.down, columns);
  }
}

// All threads that an SM holds take part: 32 registers each, and no unrolled loop. (256 threads to a block.)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr unsigned blocks_per_sm = 4;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 700 && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 &&      \
    __CUDA_ARCH__ / 100 != 10
constexpr unsigned blocks_per_sm = 6;
#else
constexpr unsigned blocks_per_sm = 8;
#endif

// The whole time loop in one kernel.
__global__ void __launch_bounds__(256, blocks_per_sm)
    jacobi(const __grid_constant__ mgsync::multi_grid_handle handle, const __grid_constant__ jacobi_part part,
           unsigned steps) {
  auto grids = mgsync::this_multi_grid(handle);
  for (unsigned step = 0; step < steps; ++step) {
    // States are chosen by index, since pointers that are swapped would take twelve registers in every
    // thread.
    jacobi_step(part.states[step % 2].cells, part.states[1 - step % 2], part.rows, part.columns);
    if (!grids.sync()) return;  // given up: grids.wait() says why on the host
  }
}

// The plate in the memory of a group's GPUs: its upper edge at 1, all else at 0.
class plate {
 public:
  plate(mgsync::multi_grid& grids, unsigned rows, unsigned columns)
      : grids_(grids), rows_(rows), columns_(columns), memory_(grids.allocate(2 * state_bytes(0))) {
    for (unsigned local = 0; local < grids.local_gpus(); ++local) {
      const jacobi_part part = this->part(local);
      const std::vector<float> ones(columns, 1.0f);
      check(cudaSetDevice(grids.ordinal(local)), "selecting a GPU");
      for (const jacobi_state& state : part.states)
        if (grids.grid_rank(local) == 0)
          check(cudaMemcpy(state.cells, ones.data(), columns * sizeof(float), cudaMemcpyHostToDevice),
                "setting the edge");
      check(cudaDeviceSynchronize(),
            "setting the edge");  // the group's own streams do not wait for the default stream
    }
  }

  // What GPU number `local` of this process works on, as it addresses it.
  jacobi_part part(unsigned local) const {
    const unsigned me = grids_.grid_rank(local);
    jacobi_part made{{}, own_rows(me), columns_};
    for (unsigned s = 0; s < 2; ++s)
      made.states[s] = {row(me, local, s, 0), me > 0 ? row(me - 1, local, s, own_rows(me - 1) + 1) : nullptr,
                        me + 1 < grids_.gpus() ? row(me + 1, local, s, 0) : nullptr};
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
      check(cudaMemcpy(all.data() + before, p.states[steps % 2].cells + columns_, cells * sizeof(float),
                       cudaMemcpyDeviceToHost),
            "reading the plate");
    }
    return all;
  }

 private:
  unsigned own_rows(unsigned gpu) const { return rows_of(gpu, grids_.gpus(), rows_); }
  std::size_t state_bytes(unsigned gpu) const {
    return (own_rows(gpu) + 2) * std::size_t{columns_} * sizeof(float);
  }
  float* row(unsigned gpu, unsigned local, unsigned state, unsigned r) const {
    return memory_.part_as<float>(gpu, local) + state * (state_bytes(gpu) / sizeof(float)) +
           std::size_t{r} * columns_;
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

// The words [ROWS COLUMNS STEPS] of a command line, from the `first` on.
struct plate_size {
  plate_size(int count, char** words, int first) {
    for (unsigned* number : {&rows, &columns, &steps}) {
      if (count > first) *number = static_cast<unsigned>(std::atoi(words[first]));
      ++first;
    }
  }
  unsigned rows = 1001, columns = 999, steps = 500;
};

// The exit code: 0 if several GPUs computed what one computed, and the plate is not empty.
inline int compared(const std::vector<float>& alone, const std::vector<float>& together,
                    const plate_size& size) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) wrong += alone[i] != together[i];
  std::printf("%u x %u cells, %u steps: %zu cells differ from one GPU's\n", size.rows, size.columns,
              size.steps, wrong);
  return wrong == 0 && alone[size.columns / 2] > 0.5f ? 0 : 1;
}
