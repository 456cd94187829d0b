// A small parallel program as the memory consistency model of PTX sees it: threads of blocks of GPUs, each a
// straight line of memory operations, fences and barriers, and a question about the values that are read.
// What a loop would do is written out: a poll as the one read that ends it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mgsync::memory_order {

// The threads among which an operation synchronizes: of its block, of its GPU, of all GPUs and the host.
enum class scope { block, gpu, system };
// Which way an operation reaches memory.
enum class proxy { generic, surface, texture, constant, async };
enum class order { weak, relaxed, acquire, release, acq_rel };

// A number, or what a read of the same thread got plus a number.
struct operand {
  static constexpr int none = -1;
  int read = none;  // index of an event of the program
  std::int64_t plus = 0;
};

enum class compared { equal, unequal };
// A condition under which an event takes place: what an earlier read got, of its thread or of one that told
// it in a vote.
struct guard {
  int read = operand::none;
  compared how = compared::equal;
  std::int64_t value = 0;
};

enum class event_kind { read, write, fence, proxy_fence, alias_fence, barrier };
enum class fence_kind { acq_rel, sc };

// An atomic operation is two events: its read, and after that its write, which names the read.
struct event {
  event_kind kind = event_kind::read;
  int thread = 0;
  std::string text;  // the instruction, for those who read the answer
  memory_order::order order = memory_order::order::weak;
  memory_order::scope scope = memory_order::scope::system;
  memory_order::proxy proxy =
      memory_order::proxy::generic;  // of a read or write; of a proxy fence: whose operations it orders
  int address = 0;                   // read, write: index into program::addresses
  operand value;                     // write
  int of_atomic = operand::none;     // write: the read of the same atomic operation
  fence_kind fence = fence_kind::acq_rel;
  // barrier: operations of one block with the same name and turn meet; one that does not wait only arrives.
  std::string barrier;
  int turn = 0;
  bool waits = true;
  std::vector<guard> guards;  // all must hold
};

struct thread_position {
  int gpu = 0;
  int block = 0;  // of that GPU
};

// Two addresses of one memory are virtual aliases of it; one address may be reached through several proxies.
struct address {
  std::string name;
  int memory = 0;  // index into program::start
};

// What is asked of an execution: of values that were read, and of what memory holds at the end.
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
  std::vector<std::int64_t> start;  // what each memory holds at first
  std::vector<event> events;        // those of one thread in its order
  std::vector<condition> given;     // no execution is looked at in which one of them does not hold
  condition question;
};

}  // namespace mgsync::memory_order
