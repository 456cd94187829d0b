// `mgsync --processes N`: the sweep in N fresh processes, one after the other, and what came of all of them together.
#pragma once

#include <string>
#include <vector>

#include "src/app/options.hpp"

namespace mgsync {

// Two processes that run the same command differ by 1 to 4 %, which no interval of one sees. So each process counts once:
// its median is one value, and the interval is that of the median over them (95 % from six processes on; the results say
// what it really has). `words` is the command line. A signal is passed on to the process under way, and ends the command
// after it; what was measured until then is written. Returns the exit code. Throws usage_error under mpirun or srun,
// where the launcher has to start the processes.
int measure_in_processes(const options&, const std::vector<std::string>& words);

}  // namespace mgsync
