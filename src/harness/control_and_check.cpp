#include "src/harness/control_and_check.hpp"

namespace mgsync {

std::optional<step> control_and_check::next() {
  if (count_ == 0 || asked_) return std::nullopt;
  asked_ = true;
  const run_order check{.what = run_order::purpose::check, .count = count_};
  step both{{check, check}, 0, true};
  both.orders.front().fault = fault;
  return both;
}

verdict control_and_check::judge() const {
  if (count_ == 0) return {};
  auto now = checks_.judge(kind_);
  if (!now.control_flagged) now.details["reason"] = "what was broken on purpose was not found";
  return now;
}

}  // namespace mgsync
