// Results of the study launch by kind of launch and place, and the figures of paper 004. Pure.
#pragma once

#include <compare>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::launch {

// The results of the study's quantities for one kind of launch at one place.
struct found {
  const result* null = nullptr;
  const result* total = nullptr;
  const result* fused = nullptr;
  const result* gradient = nullptr;
};

struct place {
  int members = 0;
  std::string shape, kind;
  unsigned argument_bytes = 0;
  std::string policy;  // how the host waits; empty: the default
  auto operator<=>(const place&) const = default;
  // The kind, with what is not the default: "graph", "graph, 128 B of arguments, spin".
  std::string launch() const;
};

std::map<place, found> by_place(std::span<const result>);

// Whether the interval lies above zero: a time that may be only noise is neither printed nor drawn.
bool is_shown(const metric&);

// A metric's median in ns; NaN where there is none, or where is_shown() is false.
double ns(const result*, std::string_view metric);

// Figure 2 (what one more unit of waiting adds), 4 (null kernels), 5 (kernels that wait; over GPUs) and 6
// (the parts of one null kernel), as far as there are results for them.
void add_figures(const std::map<place, found>&, evaluation&);

}  // namespace mgsync::launch
