// The exchange over MPI: what every rank gets, and what a group gets that is freed after MPI has ended. Needs
// no GPU.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>

#include <mgsync/mpi_exchange.hpp>

namespace {

int failed = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++failed;
  std::printf("FAIL  %s\n", what);
}

// Of another length in every rank, zero bytes among them, nothing from rank 0.
std::string bytes_of(int rank) {
  return std::string(static_cast<std::size_t>(rank), '\0') + (rank == 0 ? "" : "end");
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto exchange = mgsync::mpi_exchange(MPI_COMM_WORLD);
  const auto all = exchange(bytes_of(rank));
  expect(all.size() == static_cast<std::size_t>(ranks), "an entry of every rank");
  for (int r = 0; r < ranks && failed == 0; ++r)
    expect(all[static_cast<std::size_t>(r)] == bytes_of(r), "what that rank gave");
  // The last rank does not come: the others say so in time. Its copy of the communicator is of no use after
  // that.
  const auto hurried = mgsync::mpi_exchange(MPI_COMM_WORLD, std::chrono::milliseconds(300));
  if (rank != ranks - 1) {
    std::string late;
    try {
      hurried("here");
    } catch (const mgsync::timeout_error& error) { late = error.what(); }
    expect(late.find("not all ranks of the group came") != std::string::npos, "who waits gives up in time");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) {  // what the others began may end now
    try {
      hurried("here");
    } catch (const mgsync::timeout_error&) {}
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  std::string why;
  try {
    exchange({});
  } catch (const std::exception& error) { why = error.what(); }
  expect(why.find("before MPI_Finalize") != std::string::npos,
         "a sentence after MPI has ended, not the end of the job");
  return failed == 0 ? 0 : 1;
}
