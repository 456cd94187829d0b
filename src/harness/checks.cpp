#include "src/harness/checks.hpp"

#include "src/results/values/statistics.hpp"

namespace mgsync {

void checks::add(const check_counts& one, bool is_control) {
  if (is_control) {
    ++controls_;
    noticed_ += one.wrong > 0;
    return;
  }
  all_.rounds += one.rounds;
  all_.compared += one.compared;
  all_.wrong += one.wrong;
  if (all_.example.empty()) all_.example = one.example;
}

verdict checks::judge(verdict_kind kind) const {
  verdict v;
  v.kind = kind;
  v.rounds = all_.rounds;
  v.observations = all_.compared;
  v.violations = all_.wrong;
  v.control_flagged = show_something();
  v.passed = v.rounds > 0 && v.violations == 0 && v.control_flagged;
  if (kind == verdict_kind::rounds && v.rounds > 0) v.bound = upper_bound(v.rounds);
  return v;
}

}  // namespace mgsync
