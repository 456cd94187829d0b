// The barriers of other projects, on host threads.
#include "barriers/library/include/mgsync/check.hpp"

#include "tests/check/peer_forms.hpp"
