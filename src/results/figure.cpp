#include "src/results/figure.hpp"

namespace mgsync {

const figure_heading& heading_of(const figure& any) {
  return std::visit([](const auto& one) -> const figure_heading& { return one.heading; }, any);
}

}  // namespace mgsync
