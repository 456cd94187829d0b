// The mpi backend of a build without MPI: listed, and waived.
#include "barriers/backend.hpp"

namespace mgsync {

namespace {

constexpr std::string_view variants[] = {"default"};

support can_run(const topology::machine&, const topology::group&, const configuration&) {
  return support::no("this mgsync was built without MPI");
}

creation create(const topology::group&, const configuration&, session&) {
  return {nullptr, "this mgsync was built without MPI", {}, {}};
}

}  // namespace

extern const backend mpi_backend;
const backend mpi_backend{"mpi", "MPI_Barrier of the ranks that own the members", variants, level::group, false,
                          can_run, create};

}  // namespace mgsync
