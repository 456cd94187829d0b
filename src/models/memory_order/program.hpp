// A small parallel program as the memory consistency model of PTX sees it: threads of blocks of GPUs, each a
// straight line of memory operations, fences and barriers, and a question about the values that are read.
// Loops are unrolled: a poll is represented by the read that ends it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mgsync::memory_order {

// The scope of an operation: its block, its GPU, or all GPUs and the host.
enum class scope { block, gpu, system };
// The proxy by which an operation accesses memory.
enum class proxy { generic, surface, texture, constant, async };
enum class order { weak, relaxed, acquire, release, acq_rel };

// A number, or the value of a read of the same thread plus a number.
struct operand {
  static constexpr int none = -1;
  int read = none;  // index of an event of the program
  std::int64_t plus = 0;
};

enum class compared { equal, unequal };
// A condition under which an event is executed: the value of an earlier read of its thread, or of a thread
// that communicated it in a vote.
struct guard {
  int read = operand::none;
  compared how = compared::equal;
  std::int64_t value = 0;
  auto operator<=>(const guard&) const = default;
};

enum class event_kind { read, write, fence, proxy_fence, alias_fence, barrier };
enum class fence_kind { acq_rel, sc };

// An atomic operation is two events: its read, and after that its write, which names the read.
struct event {
  event_kind kind = event_kind::read;
  int thread = 0;
  std::string text;  // the instruction, for printing executions
  memory_order::order order = memory_order::order::weak;
  memory_order::scope scope = memory_order::scope::system;
  memory_order::proxy proxy =
      memory_order::proxy::generic;  // of a read or write; of a proxy fence: whose operations it orders
  int address = 0;                   // read, write: index into program::addresses
  operand value;                     // write
  int of_atomic = operand::none;     // write: the read of the same atomic operation
  fence_kind fence = fence_kind::acq_rel;
  // barrier: operations of one block with the same name and turn synchronize; one that does not wait only
  // arrives.
  std::string barrier;
  int turn = 0;
  bool waits = true;
  std::vector<guard> guards;  // all must hold
  // write: besides `value`, the reads without which it would not be executed or would write something else.
  // A guard alone is no such dependency.
  std::vector<int> depends;
};

struct thread_position {
  int gpu = 0;
  int block = 0;  // of that GPU
};

// Two addresses of the same memory are virtual aliases; one address may be accessed through several proxies.
struct address {
  std::string name;
  int memory = 0;  // index into program::start
};

// A condition on an execution: on values that were read, and on the final values of memory.
struct condition {
  enum class kind { all_of, any_of, negation, read_is, memory_is };
  kind what = kind::all_of;
  std::vector<condition> parts{};  // all_of, any_of; one for negation
  int index = 0;                   // read_is: an event; memory_is: a memory
  std::int64_t value = 0;
  int other_read = operand::none;  // read_is: compared with what this event read, plus `value`
};

struct program {
  std::vector<thread_position> threads;
  std::vector<address> addresses;
  std::vector<std::int64_t> start;  // the initial value of each memory
  std::vector<event> events;        // the events of one thread in program order
  std::vector<condition> given;     // assumptions: only executions in which all of them hold are considered
  condition question;
};

}  // namespace mgsync::memory_order
