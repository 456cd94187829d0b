// Which libraries this process really runs with: they may be others than those that it was built with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mgsync {

// The OpenMP run time by its file's name, and what tells its version: "libgomp (GOMP_5.1)", after the last
// version of its symbols; "libomp (llvm-14)", after its folder; "libomp" where nothing does; "none".
std::string openmp_runtime();

// What stands between `prefix` and ".so" in the names of the loaded libraries that begin with it, sorted:
// "ob1" for "mca_pml_".
std::vector<std::string> loaded_components(std::string_view prefix);

// From the text of MPI_Get_library_version: name and version, "Open MPI v4.1.4" or "MPICH 4.0.2"; and the
// device of MPICH and its derivatives, "ch4:ucx", or an empty text.
std::string mpi_name(std::string_view library_version);
std::string mpi_device(std::string_view library_version);

}  // namespace mgsync
