#include "src/results/frame/frame.hpp"

namespace mgsync {

std::optional<double> ratio(std::optional<double> of, std::optional<double> to) {
  return of && to && *to > 0 ? std::optional(*of / *to) : std::nullopt;
}

}  // namespace mgsync
