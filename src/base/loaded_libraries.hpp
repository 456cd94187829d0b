// Which libraries this process really runs with: they may be others than those that it was built with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

// The OpenMP run time by its file's name, and what tells its version: "libgomp (GOMP_5.1)", after the last
// version of its symbols; "libomp (llvm-14)", after its folder; "libomp" where nothing does; "none".
std::string openmp_runtime();

// Of the loaded files whose names begin so, what stands between that and ".so", sorted: of "mca_pml_",
// "ob1".
std::vector<std::string> loaded_components(std::string_view prefix);

// Of what MPI says of itself: its name and version, "Open MPI v4.1.4", "MPICH 4.0.2"; and the device that
// MPICH and what came from it move messages with, "ch4:ucx", or nothing.
std::string mpi_name(std::string_view library_version);
std::string mpi_device(std::string_view library_version);

}  // namespace mgsync
