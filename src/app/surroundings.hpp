// The software environment of a command: versions of drivers and run times, and environment variables, as
// named values for the document's settings.
#pragma once

#include <map>
#include <string>

namespace mgsync {

// The variables that configure OpenMP, MPI, NCCL and CUDA, as "environment NAME", without those by which a
// launcher identifies each process. `all`: the process's environment, "NAME=value" each, ended by a null
// pointer.
std::map<std::string, std::string> steering_variables(const char* const* all);

// "sources" (the digest of what was built, cmake/source_digest.cmake), "mpi_threads" (where MPI was started),
// "driver", "CUDA toolkit", "CUDA run time", "CUDA driver API", and the variables.
std::map<std::string, std::string> surroundings();

}  // namespace mgsync
