// The cases whose participants are threads, members of an OpenMP team, and ranks. Each ends its process.
#pragma once

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

[[noreturn]] void run_thread_case(const blocking_case&);
[[noreturn]] void run_openmp_case(const blocking_case&);
// Under an MPI launcher; where MPI is built in.
[[noreturn]] void run_rank_case(const blocking_case&);

}  // namespace mgsync::blocking
