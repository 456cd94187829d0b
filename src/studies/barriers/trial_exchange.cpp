#include "src/studies/barriers/trial_exchange.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace mgsync {

using json = nlohmann::json;

std::string pack_trial(const trial& mine, const std::vector<unsigned>& members, bool interrupted,
                       double stopped_s) {
  json wire{{"outcome", static_cast<int>(mine.outcome)},
            {"observations", mine.observations},
            {"violations", mine.violations},
            {"far_violations", mine.far_violations},
            {"interrupted", interrupted},
            {"stopped_s", stopped_s}};
  wire["members"] = members;
  wire["elapsed_ns"] = json::array();
  for (const auto e : mine.elapsed) wire["elapsed_ns"].push_back(e.count());
  wire["loads"] = json::array();
  for (const auto& l : mine.loads) wire["loads"].push_back({l.gbps, l.misplaced});
  wire["ran_on"] = mine.ran_on;
  if (mine.taken) wire["taken"] = *mine.taken;
  wire["arrivals"] = json::array();
  for (const auto& a : mine.arrivals) wire["arrivals"].push_back({a.worker.member, a.worker.block, a.rounds});
  if (mine.first_violation) {
    const auto& v = *mine.first_violation;
    wire["first"] = {v.round,          v.reader.member, v.reader.block, v.offender.member,
                     v.offender.block, v.expected,      v.seen,         v.what};
  }
  return wire.dump();
}

group_trial merge_trials(const std::vector<std::string>& packed) {
  group_trial all;
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> furthest;  // member and block
  for (std::size_t rank = 0; rank < packed.size(); ++rank) {
    const json wire = json::parse(packed[rank]);
    all.outcome = std::max(all.outcome, static_cast<outcome>(wire["outcome"].get<int>()));
    all.observations += wire["observations"].get<std::uint64_t>();
    all.violations += wire["violations"].get<std::uint64_t>();
    all.far_violations += wire["far_violations"].get<std::uint64_t>();
    all.interrupted = all.interrupted || wire["interrupted"].get<bool>();
    all.stopped_s = std::max(all.stopped_s, wire["stopped_s"].get<double>());
    const auto& elapsed = wire["elapsed_ns"];
    for (std::size_t i = 0; i < elapsed.size(); ++i) {
      const double us = elapsed[i].get<double>() / 1000;
      if (us == all.longest_us) all.slowest.reset();
      if (us <= all.longest_us) continue;
      all.longest_us = us;
      all.slowest = wire["members"][i].get<unsigned>();
    }
    for (std::size_t i = 0; i < wire["loads"].size(); ++i) {
      const auto& l = wire["loads"][i];
      all.load_gbps.emplace_back(wire["members"][i].get<unsigned>(), l[0].get<double>());
      if (all.misplaced_load.empty()) all.misplaced_load = l[1].get<std::string>();
    }
    for (std::size_t i = 0; i < wire["ran_on"].size(); ++i)
      all.ran[wire["members"][i]] = {static_cast<int>(rank), wire["ran_on"][i].get<std::set<int>>()};
    if (wire.contains("taken")) all.taken = std::max(all.taken.value_or(0), wire["taken"].get<double>());
    if (wire.contains("first")) {
      const auto& f = wire["first"];
      const violation v{f[0], {f[1], f[2]}, {f[3], f[4]}, f[5], f[6], f[7]};
      if (!all.first_violation || v.round < all.first_violation->round) all.first_violation = v;
    }
    // Several ranks may see one worker, and not at the same moment.
    for (const auto& a : wire["arrivals"]) {
      auto& rounds = furthest[{a[0], a[1]}];
      rounds = std::max(rounds, a[2].get<std::uint64_t>());
    }
  }
  for (const auto& [worker, rounds] : furthest) all.stuck_round = std::max(all.stuck_round, rounds);
  for (const auto& [worker, rounds] : furthest)
    if (rounds < all.stuck_round) all.missing.push_back({worker.first, worker.second});
  return all;
}

std::string where_members_ran(const topology::group& group, const std::map<unsigned, ran_at>& seen) {
  std::vector<std::string> all;
  for (const auto& [index, ran] : seen) {
    const auto& m = group.members.at(index);
    const bool pinned = !m.cpus.empty(),
               as_asked = std::ranges::equal(ran.cpus, std::set<int>(m.cpus.begin(), m.cpus.end()));
    auto one = fmt::format("{}: rank {} on {}, {}CPU {}", m.id, ran.rank, m.host,
                           pinned ? "" : "not pinned, ", fmt::join(ran.cpus, "+"));
    if (pinned && !as_asked) one += fmt::format(" (asked for: {})", fmt::join(m.cpus, "+"));
    if (ran.rank != m.rank) one += fmt::format(" (asked for: rank {})", m.rank);
    all.push_back(std::move(one));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

group_trial exchange(const communicator& job, const trial& mine, const std::vector<unsigned>& members,
                     bool interrupted, double stopped_s) {
  return merge_trials(
      job.all_gather(pack_trial(mine, members, interrupted, stopped_s), "gathering what a run showed"));
}

}  // namespace mgsync
