#include "src/studies/reduction/sum_prover.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace mgsync::reduction {
namespace {

class sum_prover final : public prover {
 public:
  std::optional<step> next() override {
    if (asked_) return std::nullopt;
    asked_ = true;
    return step{{order{.what = order::purpose::prove, .fault = leave_out_the_last}}, 0, true};
  }
  void take(const step&, std::span<const seen> came) override {
    for (const auto& run : came) {
      const auto number = [&run](const char* key) {
        return std::strtoull(run.evidence.at(key).c_str(), nullptr, 10);
      };
      if (run.done.fault == leave_out_the_last) {
        verdict_.control_flagged = number("wrong") > 0;
        continue;
      }
      verdict_.rounds += number("sums");
      verdict_.observations += number("sums");
      verdict_.violations += number("wrong");
    }
  }
  verdict judge() const override {
    auto now = verdict_;
    now.kind = verdict_kind::sum;
    now.passed = now.violations == 0 && now.control_flagged;
    if (!now.control_flagged) now.details["reason"] = "a sum that leaves a number out was not found";
    return now;
  }

 private:
  bool asked_ = false;
  verdict verdict_;
};

}  // namespace

std::unique_ptr<prover> make_sum_prover() { return std::make_unique<sum_prover>(); }

void tell_of_sums(std::uint64_t sums, std::uint64_t wrong, bool fault_was_asked, seen& came) {
  came.evidence["sums"] = fmt::format("{}", sums);
  came.evidence["wrong"] = fmt::format("{}", wrong);
  if (wrong == 0 || fault_was_asked) return;
  came.ended = ending::wrong;
  came.reason = fmt::format("{} of {} sums are wrong", wrong, sums);
}

}  // namespace mgsync::reduction
