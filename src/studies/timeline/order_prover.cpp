#include "src/studies/timeline/order_prover.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/results/chrome_trace.hpp"
#include "src/studies/timeline/barrier_rounds.hpp"

namespace mgsync::timelines {

std::optional<step> order_prover::next() {
  if (asked_control_) return std::nullopt;
  asked_control_ = true;
  return step{.orders = {{.what = order::purpose::prove, .count = 32, .fault = "early"}}, .preparing = true};
}

void order_prover::take(const step& asked, std::span<const seen> came) {
  constexpr std::size_t most_kept = 64;
  for (std::size_t i = 0; i < came.size(); ++i) {
    const auto text = came[i].evidence.find("recording");
    if (text == came[i].evidence.end()) continue;
    auto what = recording_from_json(text->second, "a recorded run");
    const auto rounds = rounds_of(what);
    const auto wrong = left_too_early(what, rounds);
    if (came[i].done.what == order::purpose::prove) {
      verdict_.control_flagged = !wrong.empty();
      continue;
    }
    verdict_.rounds += rounds.size();
    verdict_.observations += rounds.size() * what.workers.size();
    verdict_.violations += wrong.size();
    if (!wrong.empty() && refuted_.empty()) refuted_ = wrong.front();
    // Of a step the last run is the longest: the others start with caches that are cold.
    if (i + 1 == came.size() && !asked.preparing && taken_.size() < most_kept)
      taken_.push_back({round_time(rounds), std::move(what)});
  }
}

verdict order_prover::judge() const {
  auto v = verdict_;
  v.kind = verdict_kind::rounds;
  v.passed = v.violations == 0 && v.control_flagged && v.rounds > 0;
  if (v.rounds > 0) v.bound = 3.0 / static_cast<double>(v.rounds);
  return v;
}

std::string order_prover::void_because() const {
  if (!asked_control_ || verdict_.rounds == 0 || verdict_.control_flagged) return {};
  return "a member that read its clock too late on purpose was not found: the order of what was recorded "
         "shows nothing";
}

void order_prover::add_to(result& r) const {
  if (taken_.empty()) return;
  std::vector<const kept*> order;
  for (const auto& k : taken_) order.push_back(&k);
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2), order.end(),
                   [](const kept* a, const kept* b) { return a->round_ns < b->round_ns; });
  const auto& typical = order[order.size() / 2]->what;
  const auto picture =
      picture_of_rounds(typical, rounds_of(typical), {"rounds", "Rounds of " + name_of(r.point)});
  r.attachments.push_back({"recording.json", "application/json", to_json(typical)});
  r.attachments.push_back({"table.txt", "text/plain", event_table(typical)});
  r.attachments.push_back({"trace.json", "application/json", to_chrome_trace(picture)});
}

}  // namespace mgsync::timelines
