// Results of study launch by what was launched where, and the figures of paper 004. Pure.
#pragma once

#include <compare>
#include <map>
#include <span>
#include <string>
#include <string_view>

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

struct place {
  int members = 0;
  std::string shape, kind;
  unsigned argument_bytes = 0;
  std::string policy;  // of the host's waiting; empty: the usual one
  auto operator<=>(const place&) const = default;
  // "graph", "graph, 128 B of arguments, spin": what is not the usual stands beside the kind.
  std::string launch() const;
};

std::map<place, found> by_place(std::span<const result>);

// Whether the interval lies above zero: a time that may be all noise is neither printed nor drawn.
bool is_shown(const metric&);

// A metric's median in ns; not a number where there is none, or none is shown.
double ns(const result*, std::string_view metric);

// Figure 2 (what one more unit of waiting adds), 4 (null kernels), 5 (kernels that wait; over GPUs) and 6
// (the parts of one null kernel), as far as there are results for them.
void add_figures(const std::map<place, found>&, evaluation&);

}  // namespace mgsync::launch
