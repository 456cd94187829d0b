// Our own text format for a machine: one thing per line, readable, exact. docs/topology.md holds the grammar.
// Ranks exchange their machines in it, and `--topology FILE` reads it. Lines and not JSON, which `mgsync topology --format json`
// writes for programs: people write a machine that is not there by hand, a few lines each with its reason behind a '#', and
// are told the line and the word that is wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "topology/machine.hpp"

namespace mgsync::topology {

inline constexpr std::string_view description_magic = "mgsync-machine 1";  // a description's first line
inline constexpr std::size_t max_description_bytes = std::size_t{16} << 20;
inline constexpr int max_gpus = 256;  // and as many switches

// Every field of the machine: read_description(write_description(m)) == m for every machine whose ids are 0..n-1 and
// whose numbers are inside the limits of cpu_list.hpp.
std::string write_description(const machine&);

// Throws usage_error "origin:line: what is wrong; what is accepted". Never returns a machine that names a thing that
// it does not hold (a link to a missing GPU, a core in a missing package). Memory is bounded by the limits above.
machine read_description(std::string_view text, std::string_view origin);

}  // namespace mgsync::topology
