// An acceptance in the forms that other programs read, beside its line of JSON: JUnit's XML, and text for the
// textfile collector of Prometheus' node exporter.
#pragma once

#include <string>

#include "src/results/comparison/acceptance.hpp"

namespace mgsync {

// One test case for the look at the node, and one for each point: a failure where it is slow, broken or
// something is wrong, skipped where it cannot be told. Ends with a newline.
std::string to_junit(const acceptance&);

// Gauges in seconds and bare numbers, each with its HELP and TYPE, and the time of the run as a value: the
// collector takes no time stamps. `completed`: seconds since 1970.
std::string to_prometheus(const acceptance&, double completed);

}  // namespace mgsync
