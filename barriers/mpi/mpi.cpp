// MPI_Barrier of the ranks that own members, on hosts and between kernels on GPUs.
#include "barriers/mpi/gpu_mpi.hpp"
#include "barriers/mpi/rank_barrier.hpp"
#include "src/base/communicator.hpp"

namespace mgsync {

namespace {

constexpr const char* without_mpi = "this mgsync was built without MPI";
// What MPI itself promises is that all have come. That what they stored is there too rests on its messages,
// which every MPI library passes on with release and acquire; of GPU members, on the host's wait for them.
constexpr barrier_variant variants[] = {
    {.name = "default",
     .summary = "MPI_Barrier of the ranks; the members of each meet before and after it",
     .facts = {.origin = fact::origin::mpi,
               .driver = fact::driver::host,
               .scope = fact::scope::nodes,
               .extent = fact::extent::everything,
               .order = fact::order::both},
     .make = makers::of_both(built<MGSYNC_WITH_MPI, create_rank_barrier, without_mpi>,
                             built<MGSYNC_WITH_MPI && MGSYNC_WITH_CUDA, create_gpu_mpi>),
     .call = {.maker = "MPI",
              .call = "cudaStreamSynchronize(), then MPI_Barrier()",
              .needs = "#include <mpi.h>",
              .least_members = 2},
     .host_call = {.maker = "MPI", .call = "MPI_Barrier()", .needs = "#include <mpi.h>"},
     .library = communicator::library_in_use}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (!MGSYNC_WITH_MPI) return support::no(without_mpi);
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  if (topology::owners_of(group).size() < 2)
    return support::no("MPI_Barrier needs two or more ranks: start mgsync with mpirun or srun");
  return support::yes();
}

}  // namespace

extern const backend mpi_backend;
const backend mpi_backend{.name = "mpi",
                          .summary = "MPI_Barrier of the ranks that own the members",
                          .variants = variants,
                          .can_run = can_run};

}  // namespace mgsync
