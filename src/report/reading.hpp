// What a figure shows, as a sentence in plain English, which stands under it.
#pragma once

#include <string>

#include "src/results/frame/figure.hpp"

namespace mgsync::report {

// Empty where the picture has nothing to compare.
std::string reading_of(const figure&);

}  // namespace mgsync::report
