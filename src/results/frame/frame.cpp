#include "src/results/frame/frame.hpp"

#include "src/base/units.hpp"

namespace mgsync {

std::optional<double> ratio(std::optional<double> of, std::optional<double> to) {
  return of && to && *to > 0 ? std::optional(*of / *to) : std::nullopt;
}

bool is_shown_less(const result& a, const result& b) {
  const auto &of_a = first_metric(a), &of_b = first_metric(b);
  return !of_a.of_one_batch() && !of_b.of_one_batch() &&
         is_shown_less(of_a.ci95_high, of_b.ci95_low, a.file == b.file);
}

std::string few_batches_of(const result& r) {
  const auto& m = first_metric(r);
  if (m.confidence >= 0.95) return "";
  return counted(m.raw.size(), r.found("processes").empty() ? "batch" : "process", "es") + " only";
}

std::string why_not(const result& r) {
  if (r.status == result_status::measured) return "its values are missing";
  if (!r.reason.empty()) return r.reason;
  return r.status == result_status::failed ? "it was violated" : std::string(to_string(r.status));
}

input input_of(const result* r, const std::string& name) {
  if (r == nullptr) return {std::nullopt, name + " was not measured here"};
  if (!r->has_metrics()) return {std::nullopt, name + ": " + why_not(*r)};
  return {median_of(*r)};
}

}  // namespace mgsync
