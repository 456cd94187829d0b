// Tries a user's barrier of host threads in a child process: a hang is ended and reported, a crash ends only
// this trial, and writes beside the barrier's memory are found.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "barriers/user/barrier_file.hpp"
#include "src/base/enum_words.hpp"

namespace mgsync::user {

// One way to try a barrier: `launches` launches, one after the other, each of `rounds` rounds by new threads.
struct scenario {
  std::string name;
  std::string about;             // what is tried, for the report
  std::vector<unsigned> blocks;  // workers of each member
  std::uint32_t launches = 1;
  std::uint32_t rounds = 64;              // of a launch
  std::uint32_t epoch = 0;                // what start() is told
  bool crosses_its_own = false;           // is about the counters' first value alone
  bool replayed = false;                  // all launches with the same arguments, as a graph has them
  std::uint32_t second_object = 0;        // from this launch on: start() again on the same memory; 0: never
  unsigned streams = 1;                   // launches at once on the same memory
  check::loop what = check::loop::check;  // or ordinary
  std::uint32_t fault = round_loop::host_run::no_fault;  // never_arrive: in round 5
  std::uint32_t fault_member = 0;  // whose fault it is; where not 0: members of one block
  std::uint32_t seed = 1;
  std::chrono::milliseconds patience = std::chrono::seconds(20);  // without anybody's progress
  // After so long no other launch begins, and what was tried until then is judged. Of host threads.
  std::optional<std::chrono::milliseconds> enough{};
};

enum class ending {
  passed,
  violated,  // somebody left early, or read something stale
  stuck,     // nobody went on
  crashed,
  overran,  // wrote beside its memory
  refused,  // not meant for such a shape
  waived,   // cannot be tried here
};

struct tried {
  ending how = ending::passed;
  std::uint64_t rounds = 0;  // up to the end, or to what went wrong; counted from 1
  std::string sentence;      // what was seen: who, in which round, what; empty where it passed all its rounds

  bool judged() const { return how != ending::refused && how != ending::waived; }
  bool failed() const { return judged() && how != ending::passed; }
};
void fields(auto& way, tried& t) {
  way.needs("verdict", t.how);
  way.needs("rounds", t.rounds);
  way("what", t.sentence);
}

// Whether this program was built to find races (-DMGSYNC_SANITIZE=thread).
#if defined(__has_feature)  // clang's word for it
#if __has_feature(thread_sanitizer)
#define MGSYNC_SEES_RACES 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define MGSYNC_SEES_RACES 1
#endif
#if defined(MGSYNC_SEES_RACES)
inline constexpr bool finds_races = true;
#else
inline constexpr bool finds_races = false;
#endif

// What a trial tells a barrier of a scenario, and how it says that nobody goes on: of each worker its name
// and the rounds that it arrived at.
check::shape shape_of(const check::barrier_table&, const scenario&);
tried stuck_at(const std::vector<std::pair<std::string, std::uint64_t>>& workers);
inline constexpr std::uint32_t missed_round = 5;  // by the absent member

// Why this scenario is none for such a barrier: not so many streams, a refused shape. Empty: it is one.
std::string why_not_for(const check::barrier_table&, const scenario&);

// The process must have no other threads that hold locks which the barrier's code needs. The barrier's
// takes(), bytes() and start() run in this process, which SIGALRM ends where they never come back: who does
// not trust them calls this in a child (barriers/user/tried_file.hpp).
inline constexpr unsigned seconds_to_prepare = 20;
tried try_on_host(const check::barrier_table&, const scenario&);

// The scenarios that every barrier is tried with; together they have about `rounds` rounds.
std::vector<scenario> host_scenarios(std::uint32_t rounds);

}  // namespace mgsync::user

namespace mgsync {
template <>
struct enum_words<user::ending> {
  static constexpr std::pair<user::ending, std::string_view> list[] = {
      {user::ending::passed, "passed"},   {user::ending::violated, "violated"},
      {user::ending::stuck, "stuck"},     {user::ending::crashed, "crashed"},
      {user::ending::overran, "overran"}, {user::ending::refused, "refused"},
      {user::ending::waived, "waived"}};
};
}  // namespace mgsync
