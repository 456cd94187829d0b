// A case in the process that carries it out, and the cases whose participants are threads, members of an
// OpenMP team, and ranks. Each function ends its process.
#pragma once

#include "src/studies/blocking/blocking_case.hpp"

namespace mgsync::blocking {

// The study's part of a child (src/harness/child.hpp); `asked` is a blocking_case as JSON.
void carry_out_in_child(std::string_view asked);

[[noreturn]] void run_thread_case(const blocking_case&);
[[noreturn]] void run_openmp_case(const blocking_case&);
// To be run under an MPI launcher; builds with MPI only.
[[noreturn]] void run_rank_case(const blocking_case&);

}  // namespace mgsync::blocking
