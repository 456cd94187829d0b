// The question that is asked of a kernel of two rounds of a barrier: before round n a thread writes n to a
// word by an ordinary store, behind it another reads that word by an ordinary load, and behind the second
// round the writer writes 3.
#pragma once

#include "src/models/ptx/launch.hpp"

namespace mgsync::ptx {

// Holds where the thread, behind round n, gets anything but n or n + 1 from the word: less is stale, more was
// written in a round for which it has not arrived. `round`: of the read behind that one only; 0: of any.
memory_order::condition stale_reads(const recording&, int thread, std::uint64_t word, int round = 0);

}  // namespace mgsync::ptx
