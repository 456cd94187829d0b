// What the harness says of a barrier that is none, of one that is stuck, and of what a check has shown. Pure.
#pragma once

#include <chrono>
#include <string>

#include "barriers/backend.hpp"
#include "src/harness/result.hpp"
#include "src/harness/trial_exchange.hpp"

namespace mgsync {

// Whether the barrier has one worker only, so that there is nobody to wait for and nothing to check.
bool is_trivial(const point&);

// Whether some two workers can see each other's phases: one host has two of them. Otherwise a check would see nothing.
bool can_be_checked(const point&, const topology::group&);

// "multigrid:inbox on 4 host members {0,1,2,3}, shape 1": how every failure names its point.
std::string name_of(const point&);

// Names backend, group, member and round; both need what the trial found out.
std::string violation_sentence(const point&, const topology::group&, const group_trial&, std::uint64_t rounds);
std::string timeout_sentence(const point&, const topology::group&, const group_trial&,
                             std::chrono::nanoseconds waited);

// Whether one of `members` took longest in so many of the runs that chance (one in a thousand) does not explain it, and
// in more than three quarters of them.
bool is_systematic(std::uint64_t times_slowest, std::uint64_t runs, std::size_t members);

// Violations per round, at most, with 95 % confidence, when none was seen in `rounds` (the rule of three).
double upper_bound(std::uint64_t rounds);

}  // namespace mgsync
