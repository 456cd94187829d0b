// What this build's backends declare about a result's barrier, looked up by the names in the result: also
// where the result is from another machine, or where this build could not run the barrier.
#pragma once

#include <span>

#include "barriers/backend.hpp"
#include "src/results/values/subject_facts.hpp"

namespace mgsync::barriers {

subject_facts facts_of(const point&, std::span<const backend* const> table);
subject_facts facts_of(const point&);  // according to this build's backends
// The facts of the barrier's record, to be stored in the result; nothing where this build has no such backend
// or variant.
std::optional<known_facts> known_facts_of(const point&);

}  // namespace mgsync::barriers
