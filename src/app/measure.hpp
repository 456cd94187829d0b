// The command that everything else serves: plan, check, measure, report.
#pragma once

#include <mutex>
#include <string>

#include "src/app/options.hpp"
#include "src/app/outputs.hpp"
#include "src/base/communicator.hpp"
#include "src/base/errors.hpp"
#include "src/base/watchdog.hpp"
#include "topology/machine.hpp"

namespace mgsync {

// Collective over the job; `mine` is the machine as this process sees it. Returns what the process exits
// with. `written` is told of every result as soon as it is there, so that whoever ends the process can still
// write them.
int measure(const options&, communicator& job, topology::machine mine, watchdog&, outputs& written);

// Prints what measure() would do with these ranks; makes no CUDA context. Collective over the job.
int print_plan(const options&, communicator& job, topology::machine mine);
// Prints the table of a results file or a store, or what --by asks for.
int show_results(const options&);
// Prints every backend and variant, and whether these ranks can run it here. Collective over the job.
int list_backends(const options&, communicator& job, topology::machine mine);

}  // namespace mgsync
