// Tries a user's barrier of host threads in a child process: a hang is ended and reported, a crash ends only
// this trial, and writes beside the barrier's memory are found.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "barriers/user/barrier_file.hpp"

namespace mgsync::user {

// One way to try a barrier: `launches` launches, one after the other, each of `rounds` rounds by new threads.
struct scenario {
  std::string name;
  std::vector<unsigned> blocks;  // workers of each member
  std::uint32_t launches = 1;
  std::uint32_t rounds = 64;              // of a launch
  std::uint32_t epoch = 0;                // what start() is told
  bool replayed = false;                  // all launches with the same arguments, as a graph has them
  std::uint32_t second_object = 0;        // from this launch on: start() again on the same memory; 0: never
  unsigned streams = 1;                   // launches at once on the same memory
  check::loop what = check::loop::check;  // or ordinary
  std::uint32_t fault = round_loop::host_run::no_fault;  // of worker 0; never_arrive: in round 5
  std::uint32_t seed = 1;
  std::chrono::milliseconds patience = std::chrono::seconds(20);  // without anybody's progress
};

enum class ending {
  passed,
  violated,  // somebody left early, or read something stale
  stuck,     // nobody went on
  crashed,
  overran,  // wrote beside its memory
  refused,  // not meant for such a shape
};

struct tried {
  ending how = ending::passed;
  std::uint64_t rounds = 0;  // up to the end, or to what went wrong; counted from 1
  std::string sentence;      // what was seen: who, in which round, what; empty where it passed
};

// Whether this scenario is one for such a barrier at all: host threads, so many streams, no refused shape.
bool is_for(const check::barrier_table&, const scenario&);

// The process must have no other threads that hold locks which the barrier's code needs.
tried try_on_host(const check::barrier_table&, const scenario&);

// The scenarios that every barrier is tried with; together they have about `rounds` rounds.
std::vector<scenario> host_scenarios(std::uint32_t rounds);

}  // namespace mgsync::user
