#include "src/studies/timeline/order_checker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/results/files/chrome_trace.hpp"
#include "src/studies/timeline/barrier_rounds.hpp"

namespace mgsync::timelines {

std::optional<step> order_checker::next() {
  if (asked_control_) return std::nullopt;
  asked_control_ = true;
  return step{.orders = {{.what = run_order::purpose::check, .count = 32, .fault = "early"}},
              .preparing = true};
}

void order_checker::take(const step& asked, std::span<const seen> came) {
  constexpr std::size_t most_kept = 64;
  for (std::size_t i = 0; i < came.size(); ++i) {
    const auto* what = std::any_cast<recording>(&came[i].own);
    if (what == nullptr) continue;
    const auto rounds = rounds_of(*what);
    const auto wrong = left_too_early(*what, rounds);
    checks_.add({rounds.size(), rounds.size() * what->workers.size(), wrong.size(),
                 wrong.empty() ? std::string() : wrong.front()},
                !came[i].done.fault.empty());
    // Only the last run of each step is kept: it is the longest, and earlier ones start with cold caches.
    if (i + 1 == came.size() && !asked.preparing && taken_.size() < most_kept)
      taken_.push_back({round_time(rounds), *what});
  }
}

std::string order_checker::void_because() const {
  if (!asked_control_ || checks_.rounds() == 0 || checks_.show_something()) return {};
  return "a member that read its clock too late on purpose was not found: the order of what was recorded "
         "shows nothing";
}

void order_checker::add_to(result& r) const {
  if (taken_.empty()) return;
  std::vector<const kept*> order;
  for (const auto& k : taken_) order.push_back(&k);
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2), order.end(),
                   [](const kept* a, const kept* b) { return a->round_ns < b->round_ns; });
  const auto& typical = order[order.size() / 2]->what;
  const auto picture =
      picture_of_rounds(typical, rounds_of(typical), {"rounds", "Rounds of " + name_of(r.point)});
  r.attachments.push_back({"recording.json", "application/json", text_of(typical)});
  r.attachments.push_back({"table.txt", "text/plain", event_table(typical)});
  r.attachments.push_back({"trace.json", "application/json", to_chrome_trace(picture)});
}

}  // namespace mgsync::timelines
