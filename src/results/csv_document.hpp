// Results as comma-separated values (RFC 4180, lines end in CR LF): one row per point, one column per axis
// and metric.
#pragma once

#include <string>
#include <string_view>

#include "src/base/printable.hpp"
#include "src/results/json_document.hpp"

namespace mgsync {

// The header and one row per result; what a point or a result does not have is an empty field. Lists are
// joined by blanks, notes by "; ". The axes and metrics of any result have their columns, in the order in
// which they come up, so the rows of one file say by which host and version each was measured, and files of
// other sweeps may have others.
std::string format_csv(const json_document&);

}  // namespace mgsync
