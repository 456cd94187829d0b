#include "src/harness/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/harness/table.hpp"

namespace mgsync {

namespace {

std::string worker_name(const topology::group& group, const worker_id& worker) {
  const auto& m = group.members.at(worker.member);
  return fmt::format("member {} block {} (rank {} on {})", m.id, worker.block, m.rank, m.host);
}

}  // namespace

bool is_trivial(const point& p) {
  const auto blocks = p.device == topology::device::host ? p.blocks_per_sm.value_or(1) : p.blocks.value_or(0);
  return p.members == 1 && blocks == 1;
}

bool can_be_checked(const point& p, const topology::group& group) {
  if (p.device == topology::device::gpu || p.blocks_per_sm.value_or(1) > 1) return true;
  std::set<std::string> hosts;
  for (const auto& m : group.members)
    if (!hosts.insert(m.host).second) return true;
  return false;
}

std::string name_of(const point& p) {
  return fmt::format("{}:{} on {} {}{} {{{}}}, shape {}", p.backend, p.variant, p.members,
                     p.device == topology::device::gpu ? "GPU" : "host member", p.members == 1 ? "" : "s",
                     fmt::join(p.group, ","), format_shape(p));
}

std::string violation_sentence(const point& p, const topology::group& group, const group_trial& seen,
                               std::uint64_t rounds) {
  std::string text = fmt::format("not a barrier: {} violations in {} rounds of {}", seen.violations, rounds, name_of(p));
  if (!seen.first_violation) return text;
  const auto& v = *seen.first_violation;
  if (v.what == "sum")
    return text + fmt::format("; first in round {}: {} got the sum {}, expected {}", v.round,
                              worker_name(group, v.reader), v.seen, v.expected);
  return text + fmt::format("; first in round {}: {} left before the {} of {} was there (epoch {:#x}, saw {:#x})", v.round,
                            worker_name(group, v.reader), v.what, worker_name(group, v.offender), v.expected, v.seen);
}

std::string timeout_sentence(const point& p, const topology::group& group, const group_trial& seen,
                             std::chrono::nanoseconds waited) {
  std::string who = "all members arrived, and none was released";
  if (!seen.missing.empty()) {
    constexpr std::size_t most = 8;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(most, seen.missing.size()); ++i)
      names.push_back(worker_name(group, seen.missing[i]));
    who = fmt::format("did not arrive: {}{}", fmt::join(names, ", "),
                      seen.missing.size() > most ? fmt::format(" and {} more", seen.missing.size() - most) : "");
  }
  return fmt::format("stuck: {} waited {:.3g} s at epoch {}; {}", name_of(p),
                     std::chrono::duration<double>(waited).count(), seen.stuck_round, who);
}

bool is_systematic(std::uint64_t times_slowest, std::uint64_t runs, std::size_t members) {
  if (members < 2 || runs < 10 || 4 * times_slowest <= 3 * runs) return false;
  constexpr double one_in_a_thousand = 3.09;  // of the normal distribution; corrected for choosing the worst member below
  const double n = static_cast<double>(runs), p = 1 / static_cast<double>(members);
  const double chance = n * p + (one_in_a_thousand + std::sqrt(std::log(static_cast<double>(members)))) * std::sqrt(n * p * (1 - p));
  return static_cast<double>(times_slowest) > chance;
}

double upper_bound(std::uint64_t rounds) { return rounds == 0 ? 1.0 : std::min(1.0, 3.0 / static_cast<double>(rounds)); }

}  // namespace mgsync
