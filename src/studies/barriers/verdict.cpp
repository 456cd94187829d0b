#include "src/studies/barriers/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/studies/barriers/barrier_facts.hpp"

namespace mgsync {

namespace {

// Inside a block a worker is a lane, or a warp.
enum class worker { lane, warp, block };
worker worker_of(const point& p) {
  const auto facts = barriers::known_facts_of(p);
  if (!facts || facts->scope > fact::scope::block) return worker::block;
  return facts->scope == fact::scope::block ? worker::warp : worker::lane;
}
std::string_view word_for_worker(const point& p) {
  const auto one = worker_of(p);
  return one == worker::lane ? "lane" : one == worker::warp ? "warp" : "block";
}

std::string worker_name(const point& p, const topology::group& group, const worker_id& worker) {
  const auto& m = group.members.at(worker.member);
  return fmt::format("member {} {} {} (rank {} on {})", m.id, word_for_worker(p), worker.block, m.rank,
                     m.host);
}

unsigned workers_per_member(const point& p) {
  constexpr unsigned several = 2;  // a GPU that is not given its number of blocks has one per SM at least
  const auto threads = static_cast<unsigned>(p.number(axes::threads_per_block).value_or(32));
  if (worker_of(p) == worker::lane) return threads;
  if (worker_of(p) == worker::warp) return threads / 32;
  const auto count = p.device == topology::device::host ? p.number(axes::blocks_per_sm).value_or(1)
                                                        : p.number(axes::blocks).value_or(several);
  return static_cast<unsigned>(count);
}

std::map<std::string, unsigned> workers_by_host(const point& p, const topology::group& group) {
  std::map<std::string, unsigned> workers;
  for (const auto& m : group.members) workers[m.host] += workers_per_member(p);
  return workers;
}

}  // namespace

bool is_trivial(const point& p) { return p.members == 1 && workers_per_member(p) == 1; }

check_reach reach_of_check(const point& p, const topology::group& group) {
  const auto workers = workers_by_host(p, group);
  check_reach out;
  for (const auto& [host, count] : workers) out.within_hosts = out.within_hosts || count > 1;
  if (workers.size() == 1) return out;
  // Host members, and kernels that meet over nodes, tell each other who has left.
  const auto facts = barriers::known_facts_of(p);
  const bool in_kernel = facts && facts->driver == fact::driver::device && facts->scope == fact::scope::nodes;
  if (p.device == topology::device::host || in_kernel) out.across_hosts = true;
  else if (out.within_hosts)
    out = {true, false, verdict_scope::within_hosts, "checked within each host, not between hosts"};
  else
    out.note = "unchecked: every GPU is on a host of its own, and a check between GPUs reads shared memory";
  return out;
}

unsigned control_member(const point& p, const topology::group& group, std::uint64_t seed) {
  const auto workers = workers_by_host(p, group);
  std::vector<unsigned> able, in_company;
  std::set<int> ranks;
  for (unsigned m = 0; m < group.members.size(); ++m) {
    const bool speaks = ranks.insert(group.members[m].rank).second;
    if (workers.size() > 1 && !speaks) continue;
    able.push_back(m);
    if (workers.at(group.members[m].host) > 1) in_company.push_back(m);
  }
  const auto& from = in_company.empty() ? able : in_company;
  return from[seed % from.size()];
}

std::string violation_sentence(const point& p, const topology::group& group, const group_trial& seen,
                               std::uint64_t rounds) {
  std::string text =
      fmt::format("not a barrier: {} violations in {} rounds of {}", seen.violations, rounds, name_of(p));
  if (!seen.first_violation) return text;
  const auto& v = *seen.first_violation;
  if (v.what == "sum")
    return text + fmt::format("; first in round {}: {} got the sum {}, expected {}", v.round,
                              worker_name(p, group, v.reader), v.seen, v.expected);
  if (v.what == "arrival")
    return text + fmt::format("; first in round {}: {} left before {} had arrived (epoch {:#x})", v.round,
                              worker_name(p, group, v.reader), worker_name(p, group, v.offender), v.expected);
  return text +
         fmt::format("; first in round {}: {} left before the {} of {} was there (epoch {:#x}, saw {:#x})",
                     v.round, worker_name(p, group, v.reader), v.what, worker_name(p, group, v.offender),
                     v.expected, v.seen);
}

std::string timeout_sentence(const point& p, const topology::group& group, const group_trial& seen,
                             std::chrono::nanoseconds waited) {
  std::string who = "all members arrived, and none was released";
  if (!seen.missing.empty()) {
    constexpr std::size_t most = 8;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(most, seen.missing.size()); ++i)
      names.push_back(worker_name(p, group, seen.missing[i]));
    who = fmt::format("did not arrive: {}{}", fmt::join(names, ", "),
                      seen.missing.size() > most ? fmt::format(" and {} more", seen.missing.size() - most)
                                                 : "");
  }
  return fmt::format("stuck: {} waited {:.3g} s at epoch {}; {}", name_of(p),
                     std::chrono::duration<double>(waited).count(), seen.stuck_round, who);
}

bool is_systematic(std::uint64_t times_slowest, std::uint64_t runs, std::size_t members) {
  if (members < 2 || runs < 10 || 4 * times_slowest <= 3 * runs) return false;
  constexpr double one_in_a_thousand =
      3.09;  // of the normal distribution; corrected for choosing the worst member below
  const double n = static_cast<double>(runs), p = 1 / static_cast<double>(members);
  const double chance = n * p + (one_in_a_thousand + std::sqrt(std::log(static_cast<double>(members)))) *
                                    std::sqrt(n * p * (1 - p));
  return static_cast<double>(times_slowest) > chance;
}

}  // namespace mgsync
