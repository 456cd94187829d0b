// Results of study launch by what was launched where, and the figures of paper 004. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "src/results/figure.hpp"
#include "src/results/result.hpp"

namespace mgsync::launch {

// What the study's quantities found of one kind at one place.
struct found {
  const result* null = nullptr;
  const result* total = nullptr;
  const result* fused = nullptr;
  const result* gradient = nullptr;
};

using place = std::tuple<int, std::string, std::string>;  // members, shape, kind

// Without arguments and with the usual host policy.
std::map<place, found> by_place(std::span<const result>);

// A metric's median in ns; not a number where there is none.
double ns(const result*, std::string_view metric);

// Figure 2 (what one more unit of waiting adds), 4 (null kernels), 5 (kernels that wait; over GPUs) and 6 (the parts of one
// null kernel), as far as there are results for them.
void add_figures(const std::map<place, found>&, evaluation&);

}  // namespace mgsync::launch
