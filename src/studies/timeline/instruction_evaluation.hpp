// Tables and figures of how long single instructions and pairs of them took (paper 002; spec of probes).
// Pure.
#pragma once

#include <span>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::timelines {

// Adds a table of all instructions beside published values and beside what an unchecked probe would have
// measured; curves of the instructions that are measured over ways or warps; and a table of the pairs.
void add_instructions(std::span<const result>, evaluation&);

}  // namespace mgsync::timelines
