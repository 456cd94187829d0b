// What the launcher (mpirun, srun, ...) says in the environment, before MPI may be started.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mgsync {

struct launch {
  std::string launcher;           // "Open MPI", "Slurm", ...; "none"
  std::optional<int> rank;        // in the job
  std::optional<int> local_rank;  // among the ranks of this host
  std::optional<int> local_size;  // how many ranks this host has
  std::optional<int> size;        // how many it started in all
  bool under_mpi = false;         // a process manager for MPI is there, so MPI_Init will find its peers

  bool first() const {
    return rank.value_or(0) == 0;
  }  // the process that speaks for all before they have met
};

// Pure: `variable` looks up one environment variable.
launch read_launch(const std::function<std::optional<std::string>(const char*)>& variable);
launch read_launch();

// Whether who started this process, as one of several ranks, has ended since. MPI ends it then too, in about
// a second.
bool launcher_is_gone();

// Why the processes that the launcher started would not measure together, but each by itself, over the
// others' files: a sentence with the remedy, empty when they would. `mpi_ranks`: how many MPI counts (1 where
// it was not started), and `library` its name. Pure.
std::string why_apart(const launch&, int mpi_ranks, std::string_view library);

}  // namespace mgsync
