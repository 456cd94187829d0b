// What the launcher (mpirun, srun, ...) tells by environment variables, readable before MPI_Init.
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
  }  // the process that prints for all ranks before MPI is started
};

// Pure: `variable` looks up one environment variable.
launch read_launch(const std::function<std::optional<std::string>(const char*)>& variable);
launch read_launch();

// Whether the launcher that started this process as one of several ranks has ended since. MPI then ends this
// process too, after about a second.
bool launcher_is_gone();

// Asks MPICH's launcher to end the job with this code, as MPI_Abort does, but without a call of MPI, which
// may be what is stuck: it reports what its own SIGKILL made of the other ranks otherwise. False: another
// launcher.
bool ask_launcher_to_end_job(int code);

// Why the processes that the launcher started would each measure by themselves, overwriting each other's
// files, rather than together: a sentence with the remedy, or empty when they measure together. `mpi_ranks`
// is the size of MPI_COMM_WORLD (1 where MPI was not started), `library` the MPI library's name. Pure.
std::string why_apart(const launch&, int mpi_ranks, std::string_view library);

}  // namespace mgsync
