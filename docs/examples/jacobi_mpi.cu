// The same with one GPU per MPI rank: mpirun -np 4 jacobi_mpi [ROWS COLUMNS STEPS]. Rank 0 checks against one GPU.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <mgsync/mpi_exchange.hpp>

#include "jacobi.cuh"

namespace {

std::vector<float> run(mgsync::multi_grid& grids, unsigned rows, unsigned columns, unsigned steps) {
  plate work(grids, rows, columns);
  const unsigned blocks = blocks_for(rows / grids.gpus() + 1);
  grids.launch(jacobi, blocks, 256, 0, {}, work.part(0), steps);
  grids.wait();
  return work.result(steps);
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
  MPI_Gatherv(mine.data(), length, MPI_FLOAT, all.data(), lengths.data(), begins.data(), MPI_FLOAT, 0, MPI_COMM_WORLD);
  return all;
}

int compare(int count, char** words) {
  int rank = 0, ranks = 0, here = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (cudaGetDeviceCount(&here) != cudaSuccess) here = 0;
  if (here == 0 || (here < ranks && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr)) {
    if (rank == 0) std::printf("%d GPUs here for %d ranks: nothing was run\n", here, ranks);
    return 77;
  }
  const auto number = [&](int i, unsigned otherwise) { return count > i ? static_cast<unsigned>(std::atoi(words[i])) : otherwise; };
  const unsigned rows = number(1, 1001), columns = number(2, 999), steps = number(3, 500);
  const int gpu = rank % here;
  check(cudaSetDevice(gpu), "selecting a GPU");
  std::vector<float> together;
  {
    mgsync::multi_grid grids({gpu}, rank, mgsync::mpi_exchange(MPI_COMM_WORLD));
    together = gathered(run(grids, rows, columns, steps));
    if (rank == 0) std::printf("%u GPUs, one per rank, %s\n", grids.gpus(), grids.algorithm().c_str());
  }
  if (rank != 0) return 0;
  mgsync::multi_grid one({gpu});
  const auto alone = run(one, rows, columns, steps);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) wrong += alone[i] != together[i];
  std::printf("%u x %u cells, %u steps: %zu cells differ from one GPU's\n", rows, columns, steps, wrong);
  return wrong == 0 && alone[columns / 2] > 0.5f ? 0 : 1;
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
