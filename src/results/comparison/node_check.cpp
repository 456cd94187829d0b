#include "src/results/comparison/node_check.hpp"

#include <algorithm>

#include "src/base/units.hpp"
#include <fmt/format.h>

namespace mgsync {
namespace {

std::string so_many_are(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "is" : "are"); }

// The largest member count of any point: the node is judged as a whole, not a part of it.
int members_of_all(const comparison& compared) {
  int most = 0;
  for (const auto& one : compared.points) most = std::max(most, one.point.members);
  for (const auto& one : compared.lost) most = std::max(most, one.point.members);
  for (const auto& one : compared.only_base) most = std::max(most, one.members);
  return most;
}

// The end of the sentence: what was not judged, and why.
std::string not_judged(const comparison& compared, std::size_t uncertain, std::size_t doubtful,
                       std::size_t by_chance) {
  std::string text = by_chance == 0 ? "" : "; " + words_by_chance(by_chance);
  if (doubtful > 0)
    text += fmt::format("; {} not judged, as {} little", so_many_are(doubtful),
                        doubtful == 1 ? "it means" : "they mean");
  if (uncertain > 0) text += fmt::format("; {} too uncertain to tell", so_many_are(uncertain));
  if (const auto more = compared.only_base.size(); more > 0)
    text += fmt::format("; {} of the reference {} not measured here", counted(more, "point"),
                        more == 1 ? "was" : "were");
  if (const auto more = compared.only_new.size(); more > 0)
    text += fmt::format("; {} {} no reference", counted(more, "point"), more == 1 ? "has" : "have");
  return text + ".";
}

}  // namespace

node_verdict judge_node(const comparison& compared, double limit, const std::string& doubt) {
  node_verdict found;
  const auto shown = [limit](const compared_point& one) {
    return one.has_ratio() && one.void_because.empty() && one.at_worst() <= 1 + limit;
  };
  // A busy machine makes nothing faster: what is within the limit on one is so. A reference that may itself
  // be too long shows nothing.
  auto judged = compared;
  const auto doubtful = std::erase_if(judged.points, [&](const compared_point& one) {
    return one.void_because.empty() &&
           (may_be_too_long(one.base_doubts) || (may_be_too_long(one.new_doubts) && !shown(one)));
  });
  found.violations = gate_violations(judged, {limit, true});
  const int all = members_of_all(compared);
  const bool whole = std::ranges::any_of(
      judged.points, [&](const auto& one) { return one.point.members == all && shown(one); });
  const auto within = static_cast<std::size_t>(std::ranges::count_if(judged.points, shown));
  const auto lost = compared.lost.size();
  const auto unchecked = static_cast<std::size_t>(std::ranges::count_if(
      compared.points, [](const auto& one) { return one.decides && !one.void_because.empty(); }));
  const auto worse = found.violations.size() - lost - unchecked;
  const auto chance = worse_by_chance(judged, limit);
  const auto told = within + worse + unchecked + chance;
  const auto rest =
      not_judged(compared, judged.points.size() - std::min(judged.points.size(), told), doubtful, chance);
  const auto of_both = fmt::format("of {} that it and the reference both have, ",
                                   counted(compared.points.size() + lost, "point"));
  const auto near = fmt::format("{} shown to be within {:.4g}% of it", so_many_are(within), 100 * limit);
  const bool enough =
      compared.points.size() >= least_points_of_a_node &&
      std::ranges::any_of(compared.points, [&](const auto& one) { return one.point.members == all; });
  const auto* remedy = enough ? "Measure again while nothing else runs here, and longer (--max-time)."
                              : "`mgsync --json FILE` without other options measures enough points.";
  if (!found.violations.empty()) {
    found.what = node_state::not_normal;
    found.sentence = fmt::format(
        "This node is not normal: {}{}, or seem{}, worse by more than {:.4g}%, {}and {} {} no number here{}",
        of_both, so_many_are(worse), worse == 1 ? "s" : "", 100 * limit,
        unchecked == 0 ? "" : fmt::format("{} did not pass the check, ", unchecked), lost,
        lost == 1 ? "has" : "have", rest);
  } else if (!doubt.empty()) {
    found.sentence = fmt::format(
        "Whether this node is normal cannot be told: {}, so that something may be missing; {}{}{}", doubt,
        of_both, near, rest);
  } else if (within < least_points_of_a_node || !whole) {
    found.sentence = fmt::format(
        "Whether this node is normal cannot be told: {}{}, and it takes {}, of which one is over {}{} {}",
        of_both, near, least_points_of_a_node, all == 0 ? "all members" : counted(all, "member"), rest,
        remedy);
  } else {
    found.what = node_state::normal;
    found.sentence = fmt::format("This node is normal: {}{}, and none {}is shown to be worse{}", of_both,
                                 near, chance == 0 ? "" : "else ", rest);
  }
  return found;
}

}  // namespace mgsync
