// Runs what may hang in a process of its own: it is ended after a given time, and what it had written until
// then is kept.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace mgsync::blocking {

struct child_end {
  std::string out, err;      // stdout and stderr
  bool started = false;      // otherwise `err` says why not
  bool outlived = false;     // it was killed after `longest`
  bool interrupted = false;  // it was killed because this process was asked to end
  int code = -1;             // exit code; 128 + signal where a signal ended it
};

// Starts command[0] (found in PATH) in a process group of its own, with `environment` added to that of this
// process. Kills the group once the process has ended, or after `longest`.
child_end run_child(const std::vector<std::string>& command,
                    const std::map<std::string, std::string>& environment, std::chrono::milliseconds longest);

// The whole path of a program in PATH; empty: there is none.
std::string find_in_path(const std::string& program);

}  // namespace mgsync::blocking
