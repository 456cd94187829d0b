// What the launcher (mpirun, srun, ...) says in the environment, before MPI may be started.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace mgsync {

struct launch {
  std::string launcher;            // "Open MPI", "Slurm", ...; "none"
  std::optional<int> rank;         // in the job
  std::optional<int> local_rank;   // among the ranks of this host
  std::optional<int> local_size;   // how many ranks this host has
  bool under_mpi = false;          // a process manager for MPI is there, so MPI_Init will find its peers
};

// Pure: `variable` looks up one environment variable. SLURM_PROCID is never used: it is a global rank.
launch read_launch(const std::function<std::optional<std::string>(const char*)>& variable);
launch read_launch();

}  // namespace mgsync
