#include "src/studies/reduction/sum_checker.hpp"

#include <fmt/format.h>

#include "src/harness/checks.hpp"

namespace mgsync::reduction {
namespace {

class sum_checker final : public checker {
 public:
  std::optional<step> next() override {
    if (asked_) return std::nullopt;
    asked_ = true;
    return step{{run_order{.what = run_order::purpose::check, .fault = leave_out_the_last}}, 0, true};
  }
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) checks_.add(run);
  }
  verdict judge() const override {
    auto now = checks_.judge(verdict_kind::sum);
    if (!now.control_flagged) now.details["reason"] = "a sum that leaves a number out was not found";
    return now;
  }

 private:
  bool asked_ = false;
  checks checks_;
};

}  // namespace

std::unique_ptr<checker> make_sum_checker() { return std::make_unique<sum_checker>(); }

void tell_of_sums(std::uint64_t sums, std::uint64_t wrong, bool fault_was_asked, seen& came) {
  came.checked = check_counts{.rounds = sums, .compared = sums, .wrong = wrong};
  if (wrong == 0 || fault_was_asked) return;
  came.ended = ending::wrong;
  came.reason = fmt::format("{} of {} sums are wrong", wrong, sums);
}

}  // namespace mgsync::reduction
