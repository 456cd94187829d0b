// Study barriers, the default one: mgsync itself plans and measures it (barrier_points.hpp), and this is what it means.
#include "src/studies/barriers/barriers_evaluation.hpp"

#include "src/harness/study.hpp"

namespace mgsync {

extern const study barriers_study;
const study barriers_study{"barriers", "every way to synchronize here, checked and compared: the heat maps and curves of papers 000 and 001",
                           {}, nullptr, barriers::evaluate, 1.0};

}  // namespace mgsync
