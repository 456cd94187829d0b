#include "src/studies/timeline/barrier_rounds.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mgsync::timelines {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool complete(const barrier_round& r) {
  const auto known = [](double at) { return at == at; };
  return std::all_of(r.arrived.begin(), r.arrived.end(), known) &&
         std::all_of(r.left.begin(), r.left.end(), known);
}

void sum_up(barrier_round& r, double uncertainty) {
  r.first_arrival = std::ranges::min(r.arrived);
  r.last_arrival = std::ranges::max(r.arrived);
  r.first_departure = std::ranges::min(r.left);
  r.last_departure = std::ranges::max(r.left);
  for (std::uint32_t w = 0; w < r.arrived.size(); ++w)
    if (r.arrived[w] >= r.last_arrival - uncertainty) r.last.push_back(w);
}

// The member that a worker belongs to: "GPU 1" of "GPU 1 block 7". A name without a block is returned as it
// is.
std::string member_of(const std::string& worker) { return worker.substr(0, worker.find(" block ")); }

std::string names(const recording& r, const std::vector<std::uint32_t>& some) {
  if (some.size() > 3) return fmt::format("one of {} within the bound", some.size());
  std::vector<std::string> all;
  for (const auto w : some) all.push_back(r.workers[w]);
  return fmt::format("{}", fmt::join(all, " or "));
}

// What the workers of one member did in one round, taken together.
struct member_round {
  double first_came = std::numeric_limits<double>::infinity(), last_came = -first_came;
  double first_left = first_came, last_left = -first_came;
  double spoke = unknown;  // the latest signal, where several workers signalled
};

// The members of a round in the order of their workers, each with its name.
std::vector<std::pair<std::string, member_round>> members_of(const recording& r, const barrier_round& round) {
  std::vector<std::pair<std::string, member_round>> all;
  std::map<std::string, std::size_t> index;
  for (std::uint32_t w = 0; w < r.workers.size(); ++w) {
    const auto name = member_of(r.workers[w]);
    const auto [at, is_new] = index.try_emplace(name, all.size());
    if (is_new) all.emplace_back(name, member_round{});
    auto& m = all[at->second].second;
    m.first_came = std::min(m.first_came, round.arrived[w]);
    m.last_came = std::max(m.last_came, round.arrived[w]);
    m.first_left = std::min(m.first_left, round.left[w]);
    m.last_left = std::max(m.last_left, round.left[w]);
    const double said = w < round.spoke.size() ? round.spoke[w] : unknown;
    if (said == said && !(m.spoke >= said)) m.spoke = said;
  }
  return all;
}

}  // namespace

std::vector<event_kind> kinds_of_rounds() {
  return {{"ARRIVES"}, {"LEAVES", arrived, "in the barrier"}, {"SPEAKS", arrived, "until it speaks"}};
}

std::vector<barrier_round> rounds_of(const recording& r) {
  std::map<std::uint32_t, barrier_round> found;
  double first = std::numeric_limits<double>::infinity();
  for (const auto& e : r.events) first = std::min(first, e.at);
  for (const auto& e : r.events) {
    auto& round = found[e.round];
    round.number = e.round;
    round.arrived.resize(r.workers.size(), unknown);
    round.left.resize(r.workers.size(), unknown);
    if (e.kind == arrived) round.arrived[e.worker] = e.at - first;
    round.spoke.resize(r.workers.size(), unknown);
    if (e.kind == spoke) round.spoke[e.worker] = e.at - first;
    if (e.kind == left) round.left[e.worker] = e.at - first;
  }
  std::vector<barrier_round> all;
  for (auto& [number, round] : found) {
    if (!complete(round)) continue;
    sum_up(round, r.uncertainty);
    all.push_back(std::move(round));
  }
  return all;
}

std::vector<std::string> left_too_early(const recording& r, std::span<const barrier_round> rounds) {
  std::vector<std::string> all;
  for (const auto& round : rounds)
    for (std::uint32_t w = 0; w < round.left.size(); ++w)
      if (round.left[w] < round.last_arrival - r.uncertainty)
        all.push_back(fmt::format(
            "{} left round {} {:.0f} {} before {} came, and the clocks are known to within {:.0f} {}",
            r.workers[w], round.number, round.last_arrival - round.left[w], r.unit, names(r, round.last),
            r.uncertainty, r.unit));
  return all;
}

double round_time(std::span<const barrier_round> rounds) {
  if (rounds.empty()) return 0;
  if (rounds.size() == 1) return rounds.front().last_departure - rounds.front().first_arrival;
  return (rounds.back().last_arrival - rounds.front().last_arrival) / static_cast<double>(rounds.size() - 1);
}

timeline picture_of_rounds(const recording& r, std::span<const barrier_round> rounds,
                           figure_heading heading) {
  timeline t{std::move(heading), r.unit, {}, r.uncertainty};
  const double first = rounds.empty() ? 0 : rounds.front().first_arrival;
  for (std::uint32_t w = 0; w < r.workers.size(); ++w) {
    track row{r.workers[w], {}};
    for (const auto& round : rounds) {
      const double from = round.arrived[w], to = round.left[w];
      const double free = std::clamp(round.last_arrival, from, to);
      // The worker that came last gets a bar of length 0: every row has the same bars, so that rows of many
      // workers can be merged.
      row.events.push_back({"waits for the last", from - first, free - first,
                            fmt::format("round {}, for {}", round.number, names(r, round.last))});
      row.events.push_back({"is released", free - first, to - first, fmt::format("round {}", round.number)});
    }
    t.tracks.push_back(std::move(row));
  }
  std::map<std::string, track> speaking;
  for (const auto& round : rounds)
    for (const auto& [name, m] : members_of(r, round)) {
      if (m.spoke != m.spoke) continue;
      // A stamp may be off by its clock's step, so times are clamped: no bar may end before it begins.
      const double told = std::max(m.spoke, m.last_came), heard = std::max(m.first_left, told);
      auto& row = speaking.try_emplace(name, track{name + " speaks", {}}).first->second;
      const double free =
          row.events.empty() ? m.last_came - first : std::max(m.last_came - first, row.events.back().end);
      row.events.push_back({"its last has come, it speaks", free, std::max(told - first, free),
                            fmt::format("round {}", round.number)});
      row.events.push_back({"has spoken, waits", row.events.back().end,
                            std::max(heard - first, row.events.back().end),
                            fmt::format("round {}", round.number)});
    }
  for (auto& [name, row] : speaking) t.tracks.push_back(std::move(row));
  return t;
}

table table_of_rounds(const recording& r, std::span<const barrier_round> rounds, figure_heading heading) {
  table t{std::move(heading),
          {"round | >", "came last", "first waited | .0f", "first left | .0f", "last left | .0f",
           "all in | .0f"}};
  for (const auto& round : rounds)
    t.add({round.number, names(r, round.last), round.last_arrival - round.first_arrival,
           round.first_departure - round.last_arrival, round.release(),
           round.last_departure - round.first_arrival});
  return t;
}

table table_of_members(const recording& r, const barrier_round& round, figure_heading heading) {
  table t{std::move(heading),
          {"member", "first came | .0f", "last came | .0f", "spoke | .0f", "first left | .0f",
           "last left | .0f"}};
  const double from = round.first_arrival;
  for (const auto& [name, m] : members_of(r, round))
    t.add({name, m.first_came - from, m.last_came - from, m.spoke - from, m.first_left - from,
           m.last_left - from});
  return t;
}

}  // namespace mgsync::timelines
