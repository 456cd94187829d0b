// `--processes N`: the campaign in N fresh processes, one after the other, and what came of all of them
// together.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/app/options.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync {

// A folder of its own for the results of processes; gone with the object, and with this process, however it
// ends: a small process of its own waits for that.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string file(unsigned number) const;

 private:
  std::filesystem::path path_;
  unique_descriptor alive_;  // closed when this process ends
  int remover_ = -1;         // the process; -1: there is none
};

// Runs this program with these words and without its table; returns its exit code, as a shell tells it. It
// does not outlive this process. After `limit` it is told to end (SIGTERM), and writes what it has; if it is
// still there 3 s later, it is ended.
int run_this_program(std::vector<std::string> words, std::optional<std::chrono::nanoseconds> limit = {});

// Two processes that run the same command differ by 1 to 4 %, which no interval of one sees. So each process
// counts once: its median is one value, and the interval is that of the median over them (95 % from six
// processes on; the results say what it really has). `words` is the command line. A signal is passed on to
// the process under way, and ends the command after it; what was measured until then is written. Returns the
// exit code. Throws usage_error under mpirun or srun, where the launcher has to start the processes.
int measure_in_processes(const options&, std::span<const study* const>,
                         const std::vector<std::string>& words);

}  // namespace mgsync
