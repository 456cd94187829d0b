// barrier_loop [single|funneled|serialized|multiple]: what a user would write to time MPI_Barrier: a plain
// loop between two MPI_Wtime, after a warm-up, at that thread level; without one at the level that mgsync
// starts MPI with, since the level matters (docs/results/host2/mpi-thread-levels.txt). MPI_Barrier takes as
// long as the place allows where MPI keeps its requests, which what it did before decides (Open MPI 4.1 on
// two cores: 0.15 to 0.22 us, and one of these to the end where a program does nothing else): so it does
// something else between runs, now more and now less. Prints the median over runs of the slowest rank's
// microseconds per barrier.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  int provided = 0;
  const std::string_view level = argc > 1 ? argv[1] : "single";
  MPI_Init_thread(&argc, &argv,
                  level == "single"     ? MPI_THREAD_SINGLE
                  : level == "funneled" ? MPI_THREAD_FUNNELED
                  : level == "multiple" ? MPI_THREAD_MULTIPLE
                                        : MPI_THREAD_SERIALIZED,
                  &provided);
  constexpr int runs = 51, rounds = 2000;
  std::vector<double> us;
  for (int run = 0; run < runs; ++run) {
    for (int i = 0; i < run % 4; ++i) {
      int word = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
    const double mine = (MPI_Wtime() - begin) / rounds * 1e6;
    double longest = 0;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    us.push_back(longest);
  }
  std::nth_element(us.begin(), us.begin() + runs / 2, us.end());
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%.6f\n", us[runs / 2]);
  MPI_Finalize();
  return 0;
}
