// Z3 on persistent machines: the paper's recurrences, carried on over the output tiles of one SM.
#pragma once

#include "src/studies/pipeline/search.hpp"

namespace mgsync::pipeline {

// One small problem per tile, of buffers and consumers, from the tile with the least lower bound on; tiles whose bound is
// above the best time found are left out. Fills all of the answer but `by`, `tried` and `seconds`. Throws z3::exception.
search_answer solve_persistent(const machine&, extent size, const search_space&, std::chrono::milliseconds limit);

}  // namespace mgsync::pipeline
