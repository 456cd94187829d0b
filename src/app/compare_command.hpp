// `mgsync compare BASE NEW`: what got slower or faster, and whether a gate lets it through.
#pragma once

#include "src/app/options.hpp"

namespace mgsync {

// Prints the comparison on stdout. Returns 0, or gate_shut with --fail-slower. Throws usage_error for files
// that are none, of machines that differ by more than --across allows, or without a common point.
int compare_command(const options&);

}  // namespace mgsync
