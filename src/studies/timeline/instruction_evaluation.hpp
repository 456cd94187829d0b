// What single instructions and pairs of them took, in tables and pictures (paper 002; spec of probes). Pure.
#pragma once

#include <span>

#include "src/results/figure.hpp"
#include "src/results/result.hpp"

namespace mgsync::timelines {

// A table of all instructions beside what others published and what a probe that nobody checks would have
// told; curves of those that are measured over something; a table of the pairs.
void add_instructions(std::span<const result>, evaluation&);

}  // namespace mgsync::timelines
