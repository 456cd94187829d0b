// `mgsync compare BASE NEW`: what got slower or faster, and whether a gate lets it through.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Prints the comparison on stdout. Returns 0, or gate_shut where --fail-slower found something slower. Throws
// usage_error for files that are not results, whose machines differ by more than --across allows, or that
// have no point in common.
int compare_command(const options&);

}  // namespace mgsync
