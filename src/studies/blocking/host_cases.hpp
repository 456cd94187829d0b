// The cases whose participants are threads, members of an OpenMP team, and ranks. Each function ends its
// process.
#pragma once

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

[[noreturn]] void run_thread_case(const blocking_case&);
[[noreturn]] void run_openmp_case(const blocking_case&);
// To be run under an MPI launcher; builds with MPI only.
[[noreturn]] void run_rank_case(const blocking_case&);

}  // namespace mgsync::blocking
