#include "src/harness/trial_exchange.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace mgsync {

using json = nlohmann::json;

std::string pack_trial(const trial& mine, const std::vector<unsigned>& members, bool interrupted) {
  json wire{{"outcome", static_cast<int>(mine.outcome)}, {"observations", mine.observations},
            {"violations", mine.violations}, {"stuck_round", mine.stuck_round}, {"interrupted", interrupted}};
  wire["members"] = members;
  wire["elapsed_ns"] = json::array();
  for (const auto e : mine.elapsed) wire["elapsed_ns"].push_back(e.count());
  wire["missing"] = json::array();
  for (const auto& w : mine.missing) wire["missing"].push_back({w.member, w.block});
  if (mine.first_violation) {
    const auto& v = *mine.first_violation;
    wire["first"] = {v.round, v.reader.member, v.reader.block, v.offender.member, v.offender.block, v.expected, v.seen,
                     v.what};
  }
  return wire.dump();
}

group_trial merge_trials(const std::vector<std::string>& packed) {
  group_trial all;
  for (const auto& text : packed) {
    const json wire = json::parse(text);
    all.outcome = std::max(all.outcome, static_cast<outcome>(wire["outcome"].get<int>()));
    all.observations += wire["observations"].get<std::uint64_t>();
    all.violations += wire["violations"].get<std::uint64_t>();
    all.interrupted = all.interrupted || wire["interrupted"].get<bool>();
    const auto& elapsed = wire["elapsed_ns"];
    for (std::size_t i = 0; i < elapsed.size(); ++i) {
      const double us = elapsed[i].get<double>() / 1000;
      if (us <= all.longest_us) continue;
      all.longest_us = us;
      all.slowest = wire["members"][i].get<unsigned>();
    }
    if (wire.contains("first")) {
      const auto& f = wire["first"];
      const violation v{f[0], {f[1], f[2]}, {f[3], f[4]}, f[5], f[6], f[7]};
      if (!all.first_violation || v.round < all.first_violation->round) all.first_violation = v;
    }
    // The rank that saw the barrier get furthest knows best who is behind.
    const auto stuck_round = wire["stuck_round"].get<std::uint64_t>();
    if (stuck_round > all.stuck_round) all.missing.clear();
    all.stuck_round = std::max(all.stuck_round, stuck_round);
    if (!wire["missing"].empty() && stuck_round == all.stuck_round) {
      all.missing.clear();
      for (const auto& w : wire["missing"]) all.missing.push_back({w[0], w[1]});
    }
  }
  return all;
}

group_trial exchange(const communicator& job, const trial& mine, const std::vector<unsigned>& members,
                     bool interrupted) {
  return merge_trials(job.all_gather(pack_trial(mine, members, interrupted), "gathering what a run showed"));
}

}  // namespace mgsync
