// An MPI_Barrier that lies, to be loaded ahead of MPI (LD_PRELOAD). MGSYNC_LIE says how rank 1 misbehaves:
//   early    it leaves every 100th barrier at once: it arrives and does not wait
//   absent   it never arrives at the 500th
//   lost     it arrives at the 500th, and never comes back
//   near     all ranks: every barrier spans the ranks of one host only
//   in CALL  it never comes back from this call (one of those at the end of this file), whenever it makes it
//   first
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

static const char* const lie = std::getenv("MGSYNC_LIE");

// The ranks of this host, kept with the communicator, whose handle may be used again.
static MPI_Comm near_part(MPI_Comm whole) {
  static int key = MPI_KEYVAL_INVALID;
  if (key == MPI_KEYVAL_INVALID)
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm* near = nullptr;
  int there = 0;
  MPI_Comm_get_attr(whole, key, static_cast<void*>(&near), &there);
  if (there == 0) {
    near = new MPI_Comm;
    MPI_Comm_split_type(whole, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, near);
    MPI_Comm_set_attr(whole, key, near);
  }
  return *near;
}

extern "C" int MPI_Barrier(MPI_Comm comm) {
  static MPI_Request left_early = MPI_REQUEST_NULL;
  static long calls = 0;
  ++calls;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (lie == nullptr || std::strncmp(lie, "in ", 3) == 0) return PMPI_Barrier(comm);
  if (std::strcmp(lie, "near") == 0) return PMPI_Barrier(near_part(comm));
  if (std::strcmp(lie, "early") != 0) {
    const bool fatal = rank == 1 && calls == 500;
    while (fatal && std::strcmp(lie, "absent") == 0) pause();
    const int result = PMPI_Barrier(comm);
    while (fatal) pause();
    return result;
  }
  // All ranks take part in nonblocking barriers, so that leaving one early does not break the next.
  MPI_Request mine = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm, &mine);
  if (rank == 1 && calls % 100 == 50) {
    left_early = mine;
    return MPI_SUCCESS;
  }
  if (left_early != MPI_REQUEST_NULL) PMPI_Wait(&left_early, MPI_STATUS_IGNORE);
  return PMPI_Wait(&mine, MPI_STATUS_IGNORE);
}

static void maybe_for_ever(const char* call) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while (rank == 1 && lie != nullptr && std::strncmp(lie, "in ", 3) == 0 && std::strcmp(lie + 3, call) == 0)
    pause();
}

extern "C" {

int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
  const int result = PMPI_Init_thread(count, words, required, provided);
  maybe_for_ever("MPI_Init_thread");
  return result;
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  maybe_for_ever("MPI_Comm_split");
  return PMPI_Comm_split(comm, color, key, made);
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  maybe_for_ever("MPI_Comm_split_type");
  return PMPI_Comm_split_type(comm, type, key, info, made);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  maybe_for_ever("MPI_Comm_dup");
  return PMPI_Comm_dup(comm, made);
}
int MPI_Comm_free(MPI_Comm* comm) {
  maybe_for_ever("MPI_Comm_free");
  return PMPI_Comm_free(comm);
}
int MPI_Win_free(MPI_Win* window) {
  maybe_for_ever("MPI_Win_free");
  return PMPI_Win_free(window);
}
int MPI_Finalize() {
  maybe_for_ever("MPI_Finalize");
  return PMPI_Finalize();
}

}  // extern "C"
