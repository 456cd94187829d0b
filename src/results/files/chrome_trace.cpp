#include "src/results/files/chrome_trace.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mgsync {

namespace {

double microseconds_of(const std::string& unit) {
  if (unit == "us") return 1;
  if (unit == "ms") return 1e3;
  if (unit == "ns" || unit == "cycles") return 1e-3;
  throw std::invalid_argument(
      fmt::format("a trace of a timeline in '{}'; accepted: ns, us, ms, cycles", unit));
}

}  // namespace

std::string to_chrome_trace(const timeline& t) {
  using nlohmann::ordered_json;
  const double scale = microseconds_of(t.unit);
  ordered_json events = ordered_json::array();
  events.push_back(
      {{"ph", "M"}, {"name", "process_name"}, {"pid", 0}, {"tid", 0}, {"args", {{"name", t.heading.title}}}});
  for (std::size_t i = 0; i < t.tracks.size(); ++i) {
    const auto& track = t.tracks[i];
    events.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", 0}, {"tid", i}, {"args", {{"name", track.name}}}});
    events.push_back(
        {{"ph", "M"}, {"name", "thread_sort_index"}, {"pid", 0}, {"tid", i}, {"args", {{"sort_index", i}}}});
    const event* before = nullptr;
    for (const auto& e : track.events) {
      if (e.end < e.begin)
        throw std::invalid_argument(fmt::format("{} of {} ends before it begins", e.name, track.name));
      // Tolerates the rounding error of a difference of two doubles.
      if (before != nullptr && e.begin < before->end - 1e-6)
        throw std::invalid_argument(fmt::format("{} and {} of {} overlap", before->name, e.name, track.name));
      const double begin = before != nullptr ? std::max(e.begin, before->end) : e.begin;
      events.push_back({{"ph", "X"},
                        {"name", e.name},
                        {"cat", t.heading.name},
                        {"pid", 0},
                        {"tid", i},
                        {"ts", begin * scale},
                        {"dur", std::max(e.end - begin, 0.0) * scale}});
      if (!e.note.empty()) events.back()["args"] = {{"note", e.note}};
      before = &e;
    }
  }
  return ordered_json{{"displayTimeUnit", "ns"},
                      {"otherData",
                       {{"caption", t.heading.caption},
                        {"unit", t.unit == "cycles" ? "1 ns shown is 1 cycle" : "as shown"},
                        {"no_order_within", fmt::format("{} {}", t.uncertainty, t.unit)}}},
                      {"traceEvents", std::move(events)}}
      .dump();
}

}  // namespace mgsync
