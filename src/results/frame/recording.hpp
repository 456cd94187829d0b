// A recording: events that workers (warps, blocks, host members) time-stamped while they ran, on one common
// time axis. The table of paper 002, timelines and the JSON that is kept with a result are made from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/fields.hpp"
#include "src/results/frame/figure.hpp"

namespace mgsync {

struct event_kind {
  std::string name;  // "STOP"
  std::optional<std::size_t>
      since{};        // the kind of event that begins the bar that this one ends, in the same worker
  std::string bar{};  // the name of the bar between the two: "store, barrier, load"
  bool operator==(const event_kind&) const = default;
};
void fields(auto& way, event_kind& k) {
  way.needs("name", k.name);
  way("since", k.since);
  way("bar", k.bar);
}

// One event. Keeps the readings of the clocks beside the time computed from them.
struct recorded_event {
  double at = 0;                // on the common axis, in the recording's unit
  std::uint32_t worker = 0;     // index in recording::workers
  std::uint32_t kind = 0;       // index in recording::kinds
  std::uint32_t round = 0;      // number of the repetition
  std::uint64_t clock = 0;      // the reading of the worker's own cycle counter
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
  std::vector<recorded_event> events;  // the events of one worker stand in its order
  double uncertainty = 0;  // events of different workers that are less than this apart have no known order
  std::uint64_t lost = 0;  // events that were dropped because the recorder's buffer was full
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

// The table `t | event | warp(s)` of paper 002: one line for all events of one kind at one time, which counts
// from the first event of all. Each worker is followed by the time since the event that began its bar. Ends
// with a newline.
std::string event_table(const recording&);

// A timeline with a track for each worker and a bar from each beginning event to its end. An end whose
// beginning was lost has no bar.
timeline bars_of(const recording&, figure_heading);

// Whether a file is a recording by itself, and no results that have one among their attachments.
bool is_recording(std::string_view text);

// Every stamp as JSON, and back. Throws usage_error, beginning with `name`, for anything else.
std::string text_of(const recording&);
recording recording_from_json(std::string_view text, const std::string& name);

}  // namespace mgsync
