// A machine as JSON: the file that `--topology FILE` reads and people write by hand (docs/topology.md), what
// ranks exchange, and a part of `mgsync topology --format json`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "topology/machine.hpp"

namespace mgsync::topology {

inline constexpr std::size_t max_description_bytes = std::size_t{64} << 20;
inline constexpr int max_gpus = 256;  // and as many switches

// Every field of the machine. Unknown values and empty texts and lists are left out.
nlohmann::ordered_json machine_json(const machine&);

// JSON to read and to compare line by line: what holds no list and no object (a GPU, a link) stands on one
// line. A byte that is no UTF-8 (in a host's name) becomes U+FFFD.
std::string json_lines(const nlohmann::ordered_json&);

// read_description(write_description(m)) == m for every machine whose texts are UTF-8, whose ids are 0..n-1
// and whose numbers are inside the limits of cpu_list.hpp. Never throws.
std::string write_description(const machine&);

// Whether the text is a machine description of mgsync, of whatever version.
bool is_description(std::string_view text);

// Throws usage_error "origin: gpus[3].numa: expected what"; where the text is no JSON, with the line and the
// column. Never returns a machine that names a thing that it does not hold (a link to a missing GPU, a core
// in a missing package). Memory is bounded by the limits above.
machine read_description(std::string_view text, std::string_view origin);

}  // namespace mgsync::topology
