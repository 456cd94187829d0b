#include "src/results/frame/frame.hpp"

namespace mgsync {

std::optional<double> ratio(std::optional<double> of, std::optional<double> to) {
  return of && to && *to > 0 ? std::optional(*of / *to) : std::nullopt;
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
