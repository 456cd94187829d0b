// Switch points beyond one block: a block or the grid, one GPU or several, a host thread or several, a rank
// or several. The curves are sums of the study reduction; the predictions come from reading alone, and from
// joining where there is next to nothing to read.
#pragma once

#include <span>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::model {

// Adds a table, an expectation for each pair and a sentence; nothing where there are no such results.
void add_wider_switches(std::span<const result>, evaluation&);

}  // namespace mgsync::model
