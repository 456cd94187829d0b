// What the backends of this build declare of a result's barrier, found by the names that stand in the result:
// also where the result is of another machine, and where this build could not run it.
#pragma once

#include <span>

#include "barriers/backend.hpp"
#include "src/results/subject_facts.hpp"

namespace mgsync::barriers {

subject_facts facts_of(const point&, std::span<const backend* const> table);
subject_facts facts_of(const point&);  // by the backends of this build
// What its record says, for the result; nothing where this build has no such backend or variant.
std::optional<known_facts> known_facts_of(const point&);

}  // namespace mgsync::barriers
