// Events that workers stamped while they ran (warps, blocks, host members), on one axis of time: what a
// recorder saw, as values. From them come the table of paper 002, the bars of a timeline and the JSON that is
// kept with a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/fields.hpp"
#include "src/results/figure.hpp"

namespace mgsync {

struct event_kind {
  std::string name;  // "STOP"
  std::optional<std::size_t>
      since{};        // the kind whose last event of the same worker began what this one ends
  std::string bar{};  // what lay between the two: "store, barrier, load"
  bool operator==(const event_kind&) const = default;
};
void fields(auto& way, event_kind& k) {
  way.needs("name", k.name);
  way("since", k.since);
  way("bar", k.bar);
}

// One stamp. What was read stays beside what became of it.
struct recorded_event {
  double at = 0;                // on the common axis, in the recording's unit
  std::uint32_t worker = 0;     // index in recording::workers
  std::uint32_t kind = 0;       // index in recording::kinds
  std::uint32_t round = 0;      // of what is repeated
  std::uint64_t clock = 0;      // the worker's own cycle counter, as it was read
  std::uint64_t timer_ns = 0;   // the GPU's global timer; 0: not read
  std::uint32_t processor = 0;  // the SM, or the host's hardware thread
  bool operator==(const recorded_event&) const = default;
};
void fields(auto& way, recorded_event& e) {
  way.needs("at", e.at);
  way.needs("worker", e.worker);
  way.needs("kind", e.kind);
  way.needs("round", e.round);
  way.needs("clock", e.clock);
  way.needs("timer_ns", e.timer_ns);
  way.needs("processor", e.processor);
}

struct recording {
  std::string unit;                  // "cycles" or "ns"
  std::string worker_word;           // "warp", "block", "member"
  std::vector<std::string> workers;  // their names: "warp 0", "GPU 1 block 7"
  std::vector<event_kind> kinds;
  std::vector<recorded_event> events;  // of one worker in its own order
  double uncertainty = 0;              // no order is claimed between workers within this time
  std::uint64_t lost = 0;              // events that a recorder had no room for
  bool operator==(const recording&) const = default;
};
void fields(auto& way, recording& r) {
  way.needs("unit", r.unit);
  way.needs("worker_word", r.worker_word);
  way.needs("workers", r.workers);
  way.needs("kinds", r.kinds);
  way.needs("uncertainty", r.uncertainty);
  way.may("lost", r.lost);
  std::vector<std::string> columns{"at", "worker", "kind", "round", "clock", "timer_ns", "processor"};
  way.may("columns", columns);
  way.needs("events", as_rows{r.events});
}

// The table `t | event | warp(s)` of paper 002: a line for all events of one kind at one time, counted from
// the first event of all; behind a worker the time since the event that began what this one ends. Ends with a
// newline.
std::string event_table(const recording&);

// A bar from each event that begins something to the one that ends it, a track for each worker. An end
// without a beginning (it was lost) has no bar.
timeline bars_of(const recording&, figure_heading);

// Every stamp as JSON, and back. Throws usage_error, beginning with `name`, for anything else.
std::string text_of(const recording&);
recording recording_from_json(std::string_view text, const std::string& name);

}  // namespace mgsync
