// Sentences about a barrier that is none, about one that is stuck, and about what a check has shown. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "barriers/backend.hpp"
#include "src/results/values/result.hpp"
#include "src/studies/barriers/trial_exchange.hpp"

namespace mgsync {

// Whether the barrier has one worker only, so that there is nobody to wait for and nothing to check.
bool is_trivial(const point&);

// What a check of this point compares: workers of one host, where some host has two (they see each other's
// phases), and members of different hosts (messages tell who left; between hosts' own threads only, not
// between GPUs).
struct check_reach {
  bool within_hosts = false;
  bool across_hosts = false;
  verdict_scope scope = verdict_scope::all;
  std::string note;  // about members that are not compared, for the reader; empty: all are
};
check_reach reach_of_check(const point&, const topology::group&);

// The member that arrives early in a positive control; it must be noticed by all that the check compares. On
// several hosts it is one that speaks for its rank, with company on its host where there is any.
unsigned control_member(const point&, const topology::group&, std::uint64_t seed);

// Names backend, group, member and round; both need what the trial found out.
std::string violation_sentence(const point&, const topology::group&, const group_trial&,
                               std::uint64_t rounds);
std::string timeout_sentence(const point&, const topology::group&, const group_trial&,
                             std::chrono::nanoseconds waited);

// Whether one of `members` took longest in so many of the runs that chance (one in a thousand) does not
// explain it, and in more than three quarters of them.
bool is_systematic(std::uint64_t times_slowest, std::uint64_t runs, std::size_t members);

}  // namespace mgsync
