// Files of before there were quantities hold some numbers as words of `environment` and of the verdict's
// `details`: "mhz" as "1979.8". They become quantities here, once, when such a file is read.
#pragma once

#include "src/results/result.hpp"

namespace mgsync {

// Each word that is known to be a number, or several, moves into the quantities, under the name that it has
// today. What is no number after all stays a word.
void take_numbers_from_text(result&);

}  // namespace mgsync
