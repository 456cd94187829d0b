// Asks PTX's memory model about a barrier that was written for `mgsync check`: of all executions of two
// rounds on a few GPUs, blocks and threads, is there one in which a thread that passed reads something stale?
// The header <mgsync/check.cuh> has a kernel of those two rounds for each barrier, which is not launched: it
// is here to be read. docs/memory-order.md says what the answer means.
//   for (const audit::bounded_answer& one : audit::ask_model(text)) ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync::audit {

struct bound {
  unsigned gpus = 1, blocks = 1, threads = 1;  // of each GPU, of each block
};
std::string to_string(const bound&);  // "2 GPUs x 1 block x 2 threads"

struct bounded_answer {
  enum class kind : std::uint8_t { no_execution, an_execution, not_known };

  std::string barrier;
  bound at;
  kind what = kind::not_known;
  std::string said;                // a sentence
  std::vector<std::string> story;  // an_execution: who read what
};

// Whether this mgsync was built with the solver. Without it nothing below may be called.
bool has_model();

// Of every such barrier in the text, one answer for each bound; an execution that was found ends it. Empty:
// the text has none.
std::vector<bounded_answer> ask_model(std::string_view ptx);

}  // namespace mgsync::audit
