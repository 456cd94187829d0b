// Loaded ahead of MPI (LD_PRELOAD), it puts another program's MPI_Barrier and mgsync's on equal terms (docs/method.md):
// - before the program's main part every pair of ranks exchanges messages. Open MPI polls a buffer for each pair that has
//   talked, in every call from then on; where ranks have a few partners only, as in osu_barrier, MPI_Barrier takes less.
// - the loop of osu_barrier -x 2000 is timed as a whole too: who adds up the times inside the calls leaves out what lies
//   between them, a clock read, while a partner's message is under way already. Rank 0 says at the end "the whole loop:
//   0.4061 us", the clock reads included.
#include <mpi.h>

#include <cstdio>

static const int before = 2000;  // osu_barrier -x 2000
static long calls = 0;
static double begin_s = 0, last_s = 0;

static void talk() {
  const int messages = 40;  // Open MPI makes the buffer of a pair after 16
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int other = 0; other < ranks; ++other)
    for (int i = 0; i < messages && other != rank; ++i) {
      int told = i, heard = 0;
      PMPI_Sendrecv(&told, 1, MPI_INT, other, 7, &heard, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

extern "C" int MPI_Init(int* count, char*** words) {
  const int result = PMPI_Init(count, words);
  if (result == MPI_SUCCESS) talk();
  return result;
}

// The loop's own clock reads are all that there are.
extern "C" double MPI_Wtime() {
  return last_s = PMPI_Wtime();
}

extern "C" int MPI_Barrier(MPI_Comm comm) {
  if (calls++ == before) begin_s = last_s;  // read right before this call
  return PMPI_Barrier(comm);
}

extern "C" int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // The last barrier follows the loop without a clock read; the last read is that after the loop's last barrier.
  const long timed = calls - before - 1;
  if (rank == 0 && timed > 0) std::fprintf(stderr, "the whole loop: %.5f us\n", (last_s - begin_s) / static_cast<double>(timed) * 1e6);
  return PMPI_Finalize();
}
