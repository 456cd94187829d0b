// The barriers of other projects, on GPUs.
#include "barriers/library/include/mgsync/check.cuh"

#include "tests/check/peer_forms.hpp"
