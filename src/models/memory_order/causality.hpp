// Causality: which events of an execution come before which, for all threads.
#pragma once

#include "src/models/memory_order/execution.hpp"

namespace mgsync::memory_order {

struct causality {
  relation base;   // base causality order
  relation order;  // causality order: base causality as far as proxies keep it, behind what was observed
};
// Right wherever the axioms only forbid pairs: more may be related than must be.
causality causality_of(execution&);

}  // namespace mgsync::memory_order
