// MPI_Barrier of the ranks that own members, on hosts and between kernels on GPUs.
#include "barriers/mpi/gpu_mpi.hpp"
#include "barriers/mpi/rank_barrier.hpp"

namespace mgsync {

namespace {

constexpr const char* without_mpi = "this mgsync was built without MPI";
constexpr std::string_view variants[] = {"default"};
constexpr user_call calls[] = {
    {"default", "MPI", "MPI_Barrier()", "#include <mpi.h>", topology::device::host},
    {"default", "MPI", "cudaStreamSynchronize(), then MPI_Barrier()", "#include <mpi.h>",
     topology::device::gpu, 2}};

support can_run(const topology::machine&, const topology::group& group, const configuration& wanted) {
  if (!MGSYNC_WITH_MPI) return support::no(without_mpi);
  if (!wanted.load.idle()) return support::never("load is made beside in-kernel barriers only");
  if (topology::owners_of(group).size() < 2)
    return support::no("MPI_Barrier needs two or more ranks: start mgsync with mpirun or srun");
  return support::yes();
}

creation create(const topology::group& group, const configuration& wanted, session& where) {
  if constexpr (MGSYNC_WITH_MPI && MGSYNC_WITH_CUDA)
    if (group.device == topology::device::gpu) return create_gpu_mpi(group, wanted, where);
  if constexpr (MGSYNC_WITH_MPI) return create_rank_barrier(group, wanted, where);
  else return creation::none(without_mpi);
}

}  // namespace

extern const backend mpi_backend;
const backend mpi_backend{"mpi",    "MPI_Barrier of the ranks that own the members",
                          variants, level::group,
                          false,    can_run,
                          create,   false,
                          calls,    true};

}  // namespace mgsync
