// Combines what all ranks saw in one run; every rank gets the result.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "barriers/backend.hpp"
#include "src/base/communicator.hpp"

namespace mgsync {

// Where a member's workers actually were at the end of the timed rounds of a run, or of several runs.
struct ran_at {
  int rank = 0;
  std::set<int> cpus{};  // hardware threads
};

// One run over all members of the group.
struct group_trial {
  mgsync::outcome outcome = mgsync::outcome::completed;
  double longest_us = 0;  // the largest of the members' own durations: T of docs/method.md, "Barrier latency"
  std::optional<unsigned> slowest;  // that member's index in the group; none where several took as long
  std::uint64_t observations = 0;
  std::uint64_t violations = 0;
  std::uint64_t far_violations = 0;  // how many of these are between members of different hosts
  std::optional<violation> first_violation;
  std::vector<worker_id> missing;  // workers with fewer arrivals than others when a wait timed out
  std::uint64_t stuck_round = 0;   // the round that they did not arrive at
  std::vector<std::pair<unsigned, double>>
      load_gbps;                     // of a timed run beside load: the member, and what it reached
  std::string misplaced_load;        // why the load was not the one asked for; empty: it was
  std::map<unsigned, ran_at> ran{};  // of a timed run on hosts, by the member's index
  std::optional<double> taken;       // share of CPU time that others took, for the worker that lost most
  bool interrupted = false;          // some rank was asked to stop
  double stopped_s = 0;  // the longest that a rank was stopped by a signal, or its machine suspended
};

// A text such as "0: rank 0 on node7, CPU 3; 1: rank 1 on node7, CPU 5 (asked for: 4)". Pure.
std::string where_members_ran(const topology::group&, const std::map<unsigned, ran_at>&);

// Combines the trials of all ranks. Collective over the job; a rank without members passes an empty trial.
// `members`: the group's index of each of this rank's members, in the order of trial::elapsed; `stopped_s`:
// how long this process was stopped meanwhile.
group_trial exchange(const communicator& job, const trial& mine, const std::vector<unsigned>& members,
                     bool interrupted, double stopped_s = 0);

// What exchange() sends and how it merges this; public for its test.
std::string pack_trial(const trial&, const std::vector<unsigned>& members, bool interrupted,
                       double stopped_s = 0);
group_trial merge_trials(const std::vector<std::string>& packed);

}  // namespace mgsync
