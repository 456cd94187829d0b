// Z3 in the calling process, without a time limit: solve_with_z3 (search.hpp) runs these in another process
// and sets the limit.
#pragma once

#include <optional>

#include "src/models/pipeline/search.hpp"

namespace mgsync::pipeline {

// Both functions fill all of the answer but `by`, `tried` and `seconds`, and throw z3::exception.

// The paper's encoding. Nothing where the last wave differs from the others, which the recurrences do not
// describe.
std::optional<search_answer> solve_waves(const machine&, extent size, const search_space&);

// For persistent machines: the recurrences go on over the output tiles of one SM. There is one small problem
// per tile, with buffers and consumers as variables; tiles are tried in the order of their lower bounds, and
// those whose bound is above the best time are left out.
search_answer solve_persistent(const machine&, extent size, const search_space&);

}  // namespace mgsync::pipeline
