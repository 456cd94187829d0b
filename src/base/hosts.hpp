// Which processes are on one host: names alone do not tell, since clusters and containers exist where every node is called
// "localhost".
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mgsync {

// The kernel's identifier of this boot, the same for all processes of a host and no other; empty where it does not tell.
std::string boot_id();

// A name for the host of each process, equal where both name and boot are: hosts of one name become "n", "n-2", "n-3" in the
// order of their first process. Pure.
std::vector<std::string> distinct_hosts(std::span<const std::string> names, std::span<const std::string> boots);

}  // namespace mgsync
