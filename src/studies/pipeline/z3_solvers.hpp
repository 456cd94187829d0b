// Z3 in this process, however long that takes: solve_with_z3 (search.hpp) has it done in another one, and
// sets the limit.
#pragma once

#include <optional>

#include "src/studies/pipeline/search.hpp"

namespace mgsync::pipeline {

// Both fill all of the answer but `by`, `tried` and `seconds`, and throw z3::exception.

// The paper's encoding. Nothing where the last wave is another than the others: the recurrences do not
// describe that.
std::optional<search_answer> solve_waves(const machine&, extent size, const search_space&);

// On persistent machines the recurrences are carried on over the output tiles of one SM: one small problem
// per tile, of buffers and consumers, from the tile with the least lower bound on; tiles whose bound is above
// the best time found are left out.
search_answer solve_persistent(const machine&, extent size, const search_space&);

}  // namespace mgsync::pipeline
