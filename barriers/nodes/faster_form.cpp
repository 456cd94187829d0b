#include "barriers/nodes/faster_form.hpp"

#include <algorithm>
#include <optional>

#include "src/base/session.hpp"

namespace mgsync::nodes {

namespace {

// Microseconds of a round, the least of three runs, by the slowest rank of each; nothing where one was given
// up.
std::optional<double> measured(barrier& one, session& where) {
  constexpr unsigned rounds = 200;
  std::optional<double> least;
  for (int turn = 0; turn < 3; ++turn) {
    run_request request;
    request.rounds = rounds;
    request.deadline = awake_clock::now() + where.timeout() * 3 / 5;
    const auto seen = one.run(request);
    double us = seen.outcome == outcome::completed ? 0 : -1;
    for (const auto& each : seen.elapsed)
      if (us >= 0) us = std::max(us, static_cast<double>(each.count()) / 1000 / rounds);
    const auto all = where.ranks().all_gather_values(us, "comparing the forms of a barrier over nodes");
    if (std::ranges::min(all) < 0) return {};
    const double slowest = std::ranges::max(all);
    least = least ? std::min(*least, slowest) : slowest;
  }
  return least;
}

}  // namespace

creation create_faster_form(creation (*make)(const topology::group&, const configuration&, session&, form),
                            const topology::group& group, const configuration& wanted, session& where) {
  auto leader = make(group, wanted, where, form::leader);
  if (leader.barrier == nullptr) return leader;
  const bool one_each = by_nodes(group, -1).nodes.front().ranks.size() == 1;
  if (one_each || !why_no_rails(group).empty()) return leader;
  const auto of_leader = measured(*leader.barrier, where);
  leader.barrier.reset();
  if (!of_leader) return make(group, wanted, where, form::leader);
  const std::optional<double> of_rail = measured(*make(group, wanted, where, form::rail).barrier, where);
  const bool takes_rail = of_rail && *of_rail < *of_leader;
  auto taken = make(group, wanted, where, takes_rail ? form::rail : form::leader);  // its rounds count from 0
  taken.algorithm += fmt::format(" (leader {:.3g} us, rail {:.3g} us)", *of_leader, of_rail.value_or(0));
  return taken;
}

}  // namespace mgsync::nodes
