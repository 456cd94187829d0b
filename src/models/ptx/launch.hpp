// Records the memory events of a kernel that runs on several GPUs. Every lane is executed with its own
// registers; values read from memory that others write are left symbolic, so that memory_order::check() can
// consider all executions at once.
//   ptx::launch asked{.kernel = &kernel, .gpus = 2, .blocks = 1, .threads = 2, .warp = 2};
//   asked.parameters = [&](const ptx::position& at) { return bytes_of(handles[at.gpu]); };
//   const ptx::recording made = ptx::record(asked);
//   made.program.question = made.unexplored;   // check first: did a read get a value without a path?
//
// What the recording leaves out, and why that hides no violation:
// - Polls that fail: a poll is represented by the read that ends it. A read that fails affects only its own
//   loop; without it an execution keeps all its values and loses pairs of its relations, and every axiom
//   forbids pairs. An iteration of a loop is a poll if it reads memory and does nothing else; `failed_polls`
//   lets that many of them be recorded.
// - Executions in which a thread does not end. Such a one could be continued so that each read gets what was
//   written last, which takes nothing back, unless the kernel cannot end at all.
// - Accesses to words that only one block uses, if its barriers leave each read a single value, and to words
//   that nobody writes.
// - Lanes: only the first `warp` of a warp's 32 lanes are simulated; the next warp still begins with thread
//   32. The absent lanes act like the last simulated one, but write nothing.
// How the rest is recorded:
// - Where a read decides which way the lanes go, the events of all ways are recorded, with that decision as
//   their condition. Ways that meet at a barrier of the block with the same registers go on as one.
// - A write depends on the reads that its lane's branches went by, and on those that its value and address
//   were computed from; votes, shuffles and reductions hand these on to other lanes, barriers do not. Where
//   ways meet, a read that decided between them is no dependency any more, unless it is a poll.
// - What can be read is computed from all writes of all ways, except those that a barrier of the block keeps
//   after the read. `unexplored` asks whether that was all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "src/models/memory_order/program.hpp"
#include "src/models/ptx/kernel.hpp"

namespace mgsync::ptx {

struct position {
  unsigned gpu = 0;
  unsigned block = 0;   // of the GPU
  unsigned thread = 0;  // of the block
};

// Bytes of global memory as they are at first; what is not named is 0.
using memory_image = std::map<std::uint64_t, std::uint8_t>;

struct launch {
  const ptx::kernel* kernel = nullptr;
  unsigned gpus = 1;
  unsigned blocks = 1;   // per GPU
  unsigned threads = 1;  // per block, which is one-dimensional
  unsigned warp = 32;    // lanes of a warp that are simulated
  memory_image memory;
  std::function<std::vector<std::uint8_t>(const position&)>
      parameters;                                  // the kernel's parameters as bytes, for each thread
  std::map<std::string, std::uint64_t> registers;  // special registers with a value of the launch: "%envreg1"
  std::function<std::string(std::uint64_t)>
      name_of;  // the name of a word of memory in the printed executions; without it its address
  // For tests that what is left out hides nothing: the number of failed polls to record; and `whole`, not to
  // join paths and to record also what only one block accesses.
  unsigned failed_polls = 0;
  bool whole = false;
};

struct recording {
  memory_order::program program;       // without a question
  std::vector<std::uint64_t> word_of;  // by index of program.addresses: its address
  std::vector<int> lines;              // by index of program.events: the line of the instruction
  memory_order::condition unexplored;  // holds where a read gets a value for which no path was recorded
  std::size_t ways = 0;                // the number of paths to the end, of all blocks
};

// Throws usage_error, naming line and instruction, for an instruction that it cannot execute.
recording record(const launch&);

// Threads are numbered by GPU, then block, then thread.
inline int thread_number(const launch& of, const position& at) {
  return static_cast<int>((at.gpu * of.blocks + at.block) * of.threads + at.thread);
}

}  // namespace mgsync::ptx
