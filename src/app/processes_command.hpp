// `--processes N`: runs the campaign in N fresh processes, one after the other, and merges their results.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/app/options.hpp"

namespace mgsync {

// Runs this program with these words and without its table; returns its exit code as a shell does (128 +
// signal). The child is killed when this process ends. After `limit` it gets SIGTERM, upon which it writes
// what it has, and 3 s later SIGKILL. A signal that asks this process to end is passed on to it, and a minute
// later it is killed.
int run_this_program(std::vector<std::string> words, std::optional<std::chrono::nanoseconds> limit = {});

// Two processes that run the same command differ by 1 to 4 %, which the interval of a single process does not
// show. So the median of each process counts as one value, and the interval is that of the median over
// processes (95 % from six processes on; the results contain its actual confidence). `words` is the command
// line. A signal is passed on to the process under way, and ends the command after it; what was measured
// until then is written. Returns the exit code. Throws usage_error under mpirun or srun, where the launcher
// has to start the processes.
int measure_in_processes(const options&, std::span<const study* const>,
                         const std::vector<std::string>& words);

}  // namespace mgsync
