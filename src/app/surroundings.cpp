#include "src/app/surroundings.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "mgsync/version.hpp"
#include "src/base/communicator.hpp"
#include "src/base/gpu_start.hpp"
#include "topology/sources/gpu_state.hpp"

namespace mgsync {

namespace {

bool steers(std::string_view name) {
  constexpr std::string_view families[] = {"OMP_",   "GOMP_",  "KMP_", "OMPI_", "PRTE_",
                                           "MPICH_", "I_MPI_", "UCX_", "NCCL_", "CUDA_"};
  // Set by mpirun for each rank: its number, and how it connects to the others.
  constexpr std::string_view told[] = {"OMPI_COMM_WORLD_",
                                       "OMPI_APP_CTX",
                                       "OMPI_FIRST_RANKS",
                                       "OMPI_NUM_APP_CTX",
                                       "OMPI_UNIVERSE",
                                       "OMPI_COMMAND",
                                       "OMPI_ARGV",
                                       "OMPI_FILE_LOCATION",
                                       "OMPI_MCA_orte_",
                                       "OMPI_MCA_ess",
                                       "OMPI_MCA_pmix",
                                       "OMPI_MCA_initial_wdir",
                                       "OMPI_MCA_shmem_RUNTIME",
                                       "OMPI_MCA_mpi_oversubscribe"};
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  return std::ranges::any_of(families, begins) && std::ranges::none_of(told, begins);
}

}  // namespace

std::map<std::string, std::string> steering_variables(const char* const* all) {
  std::map<std::string, std::string> found;
  for (; *all != nullptr; ++all) {
    const std::string_view entry = *all;
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || !steers(entry.substr(0, equals))) continue;
    found["environment " + std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  return found;
}

std::map<std::string, std::string> surroundings() {
  auto all = steering_variables(environ);
  if constexpr (with_cuda) all.merge(gpu_software());
  all["sources"] = source_digest;
  if (auto level = communicator::thread_level_in_force(); !level.empty())
    all["mpi_threads"] = std::move(level);
  if (auto driver = topology::driver_version(); !driver.empty()) all["driver"] = std::move(driver);
  return all;
}

}  // namespace mgsync
