// Doubts: why a value may mean little (docs/method.md, "When a value means little"), because of what went on
// beside the measurement or what its samples show. They are part of the point's result, and everything that
// ranks, compares or gates by the value reports them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/values/metric.hpp"

namespace mgsync {

struct result;

struct doubt {
  std::string kind;   // one of doubt_kinds, or one of a later version
  double amount = 0;  // how large it is; of several observations the largest
  std::string text;   // "4 runnable threads for 2 hardware threads"
  bool operator==(const doubt&) const = default;
};
void fields(auto& way, doubt& d) {
  way.needs("kind", d.kind);
  way.needs("amount", d.amount);
  way.needs("text", d.text);
}

namespace doubt_kinds {
inline constexpr std::string_view load = "load";          // more runnable threads than hardware threads
inline constexpr std::string_view steal = "steal";        // the hypervisor gave the time to others
inline constexpr std::string_view switches = "switches";  // members lost their hardware threads
inline constexpr std::string_view regimes = "regimes";    // the batches fall into two groups
inline constexpr std::string_view negative = "negative";  // a time has samples below zero
inline constexpr std::string_view gpu_processes = "gpu_processes";  // others use the GPU
inline constexpr std::string_view tool = "tool";  // a sanitizer or profiler is attached to a GPU's process
inline constexpr std::string_view slowed = "slowed";  // a GPU's clocks were lowered
inline constexpr std::string_view clocks = "clocks";  // a GPU's clock moved
}  // namespace doubt_kinds

// Whether such a doubt is of what else the host did meanwhile, which does not reach into a kernel.
bool is_of_the_host(const doubt&);

// Something is reported only if it was seen in more than this share of the looks, runs or samples: what is
// rarer does not move a median.
inline constexpr double rare_share = 0.1;
// The least factor between the medians of two groups of batches to report two regimes.
inline constexpr double regimes_apart = 1.25;

// Both keep only one doubt of each kind, that with the largest amount.
void add_doubt(std::vector<doubt>& to, const doubt&);
void add_doubts(std::vector<doubt>& to, std::span<const doubt>);

// How many times as large the upper of two regimes is as the lower, of batches' medians; nothing where they
// are one group: no gap of a quarter that is wider than twice the width of either side, with a fifth of the
// batches, and two at least, on each side.
std::optional<double> two_regimes(std::span<const double> medians);

// The doubts that the samples of the first metric show, of kinds negative and regimes.
std::vector<doubt> doubts_of_samples(const std::vector<metric>&, std::span<const sample>);

// Whether something else than the machine itself may have made a value with these doubts longer than it is:
// all of them say so but those of a GPU's own clocks.
bool may_be_too_long(std::span<const doubt>);

// "4 runnable threads for 2 hardware threads, two regimes 3.1x apart"; empty without doubts.
std::string words_of(std::span<const doubt>);

// One line for points with these doubts each (empty ones count): "3 of 5 points mean little: 4 runnable
// threads for 2 hardware threads (3), two regimes 3.1x apart (1)". Empty where none has any.
std::string summary_of(std::span<const std::vector<doubt>> points);
// The same for those of the results that have metrics.
std::string summary_of(std::span<const result* const>);
std::string summary_of(std::span<const result>);

}  // namespace mgsync
