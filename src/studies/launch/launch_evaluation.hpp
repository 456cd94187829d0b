// What launches cost, put together from the parts that were measured (paper 000, section IV and table I;
// paper 004). Pure.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::launch {

// The parts, in ns, of the time of one null kernel from before its launch call until the host has seen its
// end. What is neither the launch call nor the execution overhead is "other".
struct parts {
  double call_ns = 0;       // CPU launch overhead
  double execution_ns = 0;  // fused overhead of large kernels
  double total_ns = 0;
  double other_ns() const { return total_ns - call_ns - execution_ns; }
};

// The results of the study's quantities for one kind of launch at one place.
struct found {
  const result* null = nullptr;
  const result* total = nullptr;
  const result* fused = nullptr;
  const result* gradient = nullptr;
};

struct place {
  int members = 0;
  std::optional<member_shape> blocks;  // the shape again, by which places are sorted
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

// Table I of 000 and figures 4 to 6 of 004 from these results, beside the papers' V100; and advice on when a
// new kernel is worth its launch.
evaluation evaluate(std::span<const result>);

}  // namespace mgsync::launch
