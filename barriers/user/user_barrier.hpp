// A user's barrier as the harness sees any other (barriers/backend.hpp).
#pragma once

#include <memory>

#include "barriers/backend.hpp"
#include "barriers/user/barrier_file.hpp"

namespace mgsync::user {

// Whether the barrier can run with this group and this shape; starts nothing.
support can_run(const check::barrier_table&, const topology::group&, const configuration&);

// `of` belongs to `file`, which the barrier keeps loaded. Collective over the ranks of the group.
creation create(std::shared_ptr<const barrier_file> file, const check::barrier_table& of,
                const topology::group&, const configuration&, session&);

}  // namespace mgsync::user
