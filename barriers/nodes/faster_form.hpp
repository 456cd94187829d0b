// `auto`: leader or rail, whichever is faster where it is asked.
#pragma once

#include "barriers/backend.hpp"
#include "barriers/nodes/node_place.hpp"

namespace mgsync::nodes {

// `make` makes one of the two. Collective over the session's ranks.
creation create_faster_form(creation (*make)(const topology::group&, const configuration&, session&, form),
                            const topology::group&, const configuration&, session&);

}  // namespace mgsync::nodes
