// Loaded ahead of MPI (LD_PRELOAD), it puts another program's MPI_Barrier and mgsync's on equal terms
// (docs/method.md):
// - before the program's main part every pair of ranks exchanges messages. Open MPI polls a buffer for each
// pair that has
//   talked, in every call from then on; where ranks have a few partners only, as in osu_barrier, MPI_Barrier
//   takes less.
// - the loop of osu_barrier -i N -x M is timed as a whole, and without the clock reads between the calls:
// what osu_barrier adds
//   up inside the calls leaves out what lies between them, while a partner's message is under way already,
//   and a loop with clock reads in it takes longer than one without. Rank 0 says at the end "the whole loop:
//   0.4061 us"; osu_barrier's own figure means nothing then.
// With TALK_FIRST_CLOCK=1 in the environment the clock is read between the calls after all.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static long before = 0, timed = 0;  // barriers of the loop, from the program's own options
static long calls = 0;
static bool reads_clock = false;
static double begin_s = 0, end_s = 0, last_s = 0;

static void talk() {
  const int messages = 40;  // Open MPI makes the buffer of a pair after 16
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int other = 0; other < ranks; ++other)
    for (int i = 0; i < messages && other != rank; ++i) {
      int told = i, heard = 0;
      PMPI_Sendrecv(&told, 1, MPI_INT, other, 7, &heard, 1, MPI_INT, other, 7, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE);
    }
}

extern "C" int MPI_Init(int* count, char*** words) {
  for (int i = 1; count != nullptr && words != nullptr && i + 1 < *count; ++i) {
    if (std::strcmp((*words)[i], "-i") == 0) timed = std::atol((*words)[i + 1]);
    if (std::strcmp((*words)[i], "-x") == 0) before = std::atol((*words)[i + 1]);
  }
  reads_clock = std::getenv("TALK_FIRST_CLOCK") != nullptr;
  const int result = PMPI_Init(count, words);
  if (result == MPI_SUCCESS) talk();
  return result;
}

extern "C" double MPI_Wtime() {
  const bool in_the_loop = calls > before && calls <= before + timed;
  if (reads_clock || !in_the_loop) last_s = PMPI_Wtime();
  return last_s;
}

extern "C" int MPI_Barrier(MPI_Comm comm) {
  if (calls == before) begin_s = PMPI_Wtime();
  if (calls == before + timed) end_s = PMPI_Wtime();  // that behind the loop
  ++calls;
  return PMPI_Barrier(comm);
}

extern "C" int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && timed > 0 && calls > before + timed)
    std::fprintf(stderr, "the whole loop: %.5f us\n", (end_s - begin_s) / static_cast<double>(timed) * 1e6);
  return PMPI_Finalize();
}
