// Loaded ahead of MPI (LD_PRELOAD), it lets every pair of ranks exchange messages before a program's main part begins. Open
// MPI then polls a buffer for each pair that has talked, in every call from then on, and its MPI_Barrier takes longer:
// a program whose ranks talked with a few partners only, as OSU's osu_barrier, is compared with another on equal terms.
#include <mpi.h>

static void talk() {
  constexpr int messages = 40;  // Open MPI makes the buffer of a pair after 16
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
