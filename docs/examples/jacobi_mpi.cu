// The same with one GPU per MPI rank: mpirun -np 4 jacobi_mpi [ROWS COLUMNS STEPS]. Rank 0 checks against one
// GPU.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <mgsync/mpi_exchange.hpp>

#include "jacobi.cuh"

namespace {

std::vector<float> run(mgsync::multi_grid& grids, const plate_size& size) {
  plate work(grids, size.rows, size.columns);
  const unsigned blocks = blocks_for(size.rows / grids.gpus() + 1);
  grids.launch(jacobi, blocks, 256, 0, {}, work.part(0), size.steps);
  grids.wait();
  return work.result(size.steps);
}

// Every rank's rows to rank 0.
std::vector<float> gathered(const std::vector<float>& mine) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks)), begins(lengths.size() + 1, 0);
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t r = 0; r < lengths.size(); ++r) begins[r + 1] = begins[r] + lengths[r];
  std::vector<float> all(static_cast<std::size_t>(begins.back()));
  MPI_Gatherv(mine.data(), length, MPI_FLOAT, all.data(), lengths.data(), begins.data(), MPI_FLOAT, 0,
              MPI_COMM_WORLD);
  return all;
}

int compare(int count, char** words) {
  int rank = 0, ranks = 0, here = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (cudaGetDeviceCount(&here) != cudaSuccess) here = 0;
  if (here == 0 || (here < ranks && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr)) {
    if (rank == 0) std::printf("%d GPUs here for %d ranks: nothing was run\n", here, ranks);
    return nothing_run;
  }
  const plate_size size(count, words, 1);
  const int gpu = rank % here;
  check(cudaSetDevice(gpu), "selecting a GPU");
  std::vector<float> together;
  {
    mgsync::multi_grid grids({gpu}, rank, mgsync::mpi_exchange(MPI_COMM_WORLD));
    together = gathered(run(grids, size));
    if (rank == 0) std::printf("%u GPUs, one per rank, %s\n", grids.gpus(), grids.algorithm().c_str());
  }
  if (rank != 0) return 0;
  mgsync::multi_grid one({gpu});
  return compared(run(one, size), together, size);
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int status = 1;
  try {
    status = compare(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jacobi_mpi: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
