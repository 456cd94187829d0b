#include "src/studies/barriers/trial_exchange.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/json_fields.hpp"

namespace mgsync {

void fields(auto& way, worker_id& w) {
  way.needs("member", w.member);
  way.needs("block", w.block);
}
void fields(auto& way, arrival& a) {
  way.needs("worker", a.worker);
  way.needs("rounds", a.rounds);
}
void fields(auto& way, violation& v) {
  way.needs("round", v.round);
  way.needs("reader", v.reader);
  way.needs("offender", v.offender);
  way.needs("expected", v.expected);
  way.needs("seen", v.seen);
  way.needs("what", v.what);
}
void fields(auto& way, load_seen& l) {
  way.needs("gbps", l.gbps);
  way.needs("misplaced", l.misplaced);
}

// What a rank sends to the others.
struct rank_trial {
  trial mine;
  std::vector<unsigned> members;
  bool interrupted = false;
  double stopped_s = 0;
};
void fields(auto& way, rank_trial& r) {
  way.needs("outcome", r.mine.outcome);
  way.needs("elapsed_ns", r.mine.elapsed);
  way.needs("observations", r.mine.observations);
  way.needs("violations", r.mine.violations);
  way.needs("far_violations", r.mine.far_violations);
  way.needs("first_violation", r.mine.first_violation);
  way.needs("loads", r.mine.loads);
  way.needs("ran_on", r.mine.ran_on);
  way.needs("taken", r.mine.taken);
  way.needs("arrivals", r.mine.arrivals);
  way.needs("members", r.members);
  way.needs("interrupted", r.interrupted);
  way.needs("stopped_s", r.stopped_s);
}

std::string pack_trial(const trial& mine, const std::vector<unsigned>& members, bool interrupted,
                       double stopped_s) {
  return on_wire(rank_trial{mine, members, interrupted, stopped_s});
}

group_trial merge_trials(const std::vector<std::string>& packed) {
  group_trial all;
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> furthest;  // by member and block
  for (std::size_t rank = 0; rank < packed.size(); ++rank) {
    const auto told = from_wire<rank_trial>(packed[rank]);
    const trial& theirs = told.mine;
    all.outcome = std::max(all.outcome, theirs.outcome);
    all.observations += theirs.observations;
    all.violations += theirs.violations;
    all.far_violations += theirs.far_violations;
    all.interrupted = all.interrupted || told.interrupted;
    all.stopped_s = std::max(all.stopped_s, told.stopped_s);
    for (std::size_t i = 0; i < theirs.elapsed.size(); ++i) {
      const double us = static_cast<double>(theirs.elapsed[i].count()) / 1000;
      if (us == all.longest_us) all.slowest.reset();
      if (us <= all.longest_us) continue;
      all.longest_us = us;
      all.slowest = told.members.at(i);
    }
    for (std::size_t i = 0; i < theirs.loads.size(); ++i) {
      all.load_gbps.emplace_back(told.members.at(i), theirs.loads[i].gbps);
      if (all.misplaced_load.empty()) all.misplaced_load = theirs.loads[i].misplaced;
    }
    for (std::size_t i = 0; i < theirs.ran_on.size(); ++i)
      all.ran[told.members.at(i)] = {static_cast<int>(rank),
                                     {theirs.ran_on[i].begin(), theirs.ran_on[i].end()}};
    if (theirs.taken) all.taken = std::max(all.taken.value_or(0), *theirs.taken);
    if (const auto& v = theirs.first_violation;
        v && (!all.first_violation || v->round < all.first_violation->round))
      all.first_violation = v;
    // Several ranks may report the same worker, as seen at different times.
    for (const auto& a : theirs.arrivals) {
      auto& rounds = furthest[{a.worker.member, a.worker.block}];
      rounds = std::max(rounds, a.rounds);
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
