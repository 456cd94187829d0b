// Results as comma-separated values (RFC 4180, lines end in CR LF): one row per point, one column per axis
// and metric.
#pragma once

#include <string>
#include <string_view>

#include "src/base/printable.hpp"
#include "src/results/files/json_document.hpp"

namespace mgsync {

// The header and one row per result; a value that a result does not have is an empty field. Lists are joined
// by blanks, notes by "; ". Axes and metrics have columns in the order of their first appearance, so files of
// different sweeps may have different columns. Each row names the host and the version of mgsync.
std::string format_csv(const json_document&);

}  // namespace mgsync
