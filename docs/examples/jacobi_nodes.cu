// The same over nodes, one GPU per MPI rank: mpirun -np 2 jacobi_nodes [ROWS COLUMNS STEPS]. Every rank is a
// node of its own, as if no two shared memory: what its neighbours need of a step, the ranks' proxies carry.
// Rank 0 checks against one GPU.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <mgsync/multi_grid_nodes.cuh>
#include <mgsync/multi_grid_nodes.hpp>

#include "jacobi.cuh"

namespace {

// A row that goes to a neighbour and one that comes from it, in host memory; nullptr at the plate's edge.
struct halo {
  float* out;
  float* in;
};
struct node_part {
  float* cells[2];  // the rank's rows between two of the plate's edge
  halo above, below;
  unsigned rows, columns;
};

__global__ void __launch_bounds__(256)
    jacobi_over_nodes(const __grid_constant__ mgsync::multi_grid_node_handle handle,
                      const __grid_constant__ node_part part, unsigned steps) {
  auto grids = mgsync::this_multi_grid(handle);
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned row = 1 + blockIdx.x; row <= part.rows; row += gridDim.x) {
      const float* const here = part.cells[step % 2] + std::size_t{row} * part.columns;
      // Before the first step the neighbours' rows are all 0, as these cells are.
      const float* const above =
          row == 1 && part.above.in != nullptr && step > 0 ? part.above.in : here - part.columns;
      const float* const below =
          row == part.rows && part.below.in != nullptr && step > 0 ? part.below.in : here + part.columns;
      float* const to = part.cells[1 - step % 2] + std::size_t{row} * part.columns;
      for (unsigned c = 1 + threadIdx.x; c < part.columns - 1; c += blockDim.x)
        to[c] = 0.25f * (above[c] + below[c] + here[c - 1] + here[c + 1]);
      if (row == 1) copy_row(to, part.above.out, part.columns);
      if (row == part.rows) copy_row(to, part.below.out, part.columns);
    }
    if (!grids.sync()) return;  // given up: grids.wait() says why on the host
  }
}

std::vector<float> run(int gpu, int rank, int ranks, const plate_size& size) {
  const unsigned rows = rows_of(static_cast<unsigned>(rank), static_cast<unsigned>(ranks), size.rows);
  const std::size_t row = size.columns * sizeof(float), cells = (rows + 2) * std::size_t{size.columns};
  mgsync::group_options options;
  options.node = "node of rank " + std::to_string(rank);
  const unsigned blocks = std::min(rows, 132u);
  mgsync::multi_grid_nodes grids({gpu}, blocks, MPI_COMM_WORLD, options);
  node_part part{{}, {}, {}, rows, size.columns};
  for (float*& state : part.cells) {
    check(cudaMalloc(&state, cells * sizeof(float)), "allocating");
    check(cudaMemset(state, 0, cells * sizeof(float)), "clearing");
    const std::vector<float> ones(size.columns, 1.0f);
    if (rank == 0) check(cudaMemcpy(state, ones.data(), row, cudaMemcpyHostToDevice), "setting the edge");
  }
  const auto meet = [&](halo& with, int other) {
    if (other < 0 || other >= ranks) return;
    for (float** one : {&with.out, &with.in}) check(cudaMallocHost(one, row), "allocating");
    std::fill_n(with.out, size.columns, 0.0f);
    std::fill_n(with.in, size.columns, 0.0f);
    grids.carry(other, with.out, with.in, row);
  };
  meet(part.above, rank - 1);
  meet(part.below, rank + 1);
  check(cudaDeviceSynchronize(), "setting the plate");
  grids.launch(jacobi_over_nodes, 256, 0, part, size.steps);
  grids.wait();
  std::vector<float> mine(rows * std::size_t{size.columns});
  check(cudaMemcpy(mine.data(), part.cells[size.steps % 2] + size.columns, mine.size() * sizeof(float),
                   cudaMemcpyDeviceToHost),
        "reading the plate");
  return mine;
}

int compare(int count, char** words) {
  int rank = 0, ranks = 0, here = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (cudaGetDeviceCount(&here) != cudaSuccess) here = 0;
  // Ranks that share a GPU run at once under MPS alone.
  if (here == 0 || (here < ranks && std::getenv("CUDA_MPS_PIPE_DIRECTORY") == nullptr)) {
    if (rank == 0) std::printf("%d GPUs here for %d ranks: nothing was run\n", here, ranks);
    return nothing_run;
  }
  const plate_size size(count, words, 1);
  const int gpu = rank % here;
  check(cudaSetDevice(gpu), "selecting a GPU");
  const auto mine = run(gpu, rank, ranks, size);
  std::vector<float> together(size.rows * std::size_t{size.columns});
  std::vector<int> lengths, begins{0};
  for (int r = 0; r < ranks; ++r) {
    lengths.push_back(static_cast<int>(
        rows_of(static_cast<unsigned>(r), static_cast<unsigned>(ranks), size.rows) * size.columns));
    begins.push_back(begins.back() + lengths.back());
  }
  MPI_Gatherv(mine.data(), lengths[static_cast<std::size_t>(rank)], MPI_FLOAT, together.data(),
              lengths.data(), begins.data(), MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (rank != 0) return 0;
  mgsync::multi_grid one({gpu});
  plate alone(one, size.rows, size.columns);
  one.launch(jacobi, blocks_for(size.rows), 256, 0, {}, alone.part(0), size.steps);
  one.wait();
  std::printf("%d nodes of one GPU\n", ranks);
  return compared(alone.result(size.steps), together, size);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int status = 1;
  try {
    status = compare(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jacobi_nodes: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
