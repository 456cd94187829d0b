// Runs work that may crash, hang or exhaust memory in a child process, so that it harms only itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace mgsync::topology {

struct child_limits {
  std::chrono::seconds time{20};
  std::size_t memory_bytes = std::size_t{1} << 30;  // beyond what this process has mapped already
  std::size_t answer_bytes = std::size_t{16} << 20;
};

struct child_answer {
  bool finished = false;  // the work returned, and `text` is all that it returned
  std::string text;
  std::string death;  // otherwise, in words: "it crashed (Segmentation fault)", "it took longer than 20 s"
};

// Runs `work` in a forked child and returns what it returned. The child writes nothing on stdout or stderr,
// leaves no core file, and is gone when this returns. `work` must not need other threads. An exception in it
// is reported like a crash.
child_answer run_in_child(const std::function<std::string()>& work, const child_limits&);

}  // namespace mgsync::topology
