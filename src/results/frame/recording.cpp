#include "src/results/frame/recording.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"

namespace mgsync {

namespace {

double first_of(const recording& r) {
  double first = r.events.empty() ? 0 : r.events.front().at;
  for (const auto& e : r.events) first = std::min(first, e.at);
  return first;
}

// For each event, by its index, the time since the event of the same worker that began its bar.
std::vector<std::optional<double>> durations_of(const recording& r) {
  std::vector<std::optional<double>> all(r.events.size());
  std::map<std::pair<std::uint32_t, std::size_t>, double> last;  // by worker and kind
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    const auto& e = r.events[i];
    if (const auto since = r.kinds.at(e.kind).since)
      if (const auto begun = last.find({e.worker, *since}); begun != last.end())
        all[i] = e.at - begun->second;
    last[{e.worker, e.kind}] = e.at;
  }
  return all;
}

struct table_line {
  std::string at, event;
  std::vector<std::pair<std::uint32_t, std::optional<double>>> workers;  // in the order of their stamps
};

// Lists workers; more than fit a line are written as a range.
std::string workers_of(const table_line& line, int digits) {
  constexpr std::size_t most_named = 16;
  std::string all = "[";
  if (line.workers.size() <= most_named) {
    for (const auto& [worker, took] : line.workers)
      all += took ? fmt::format("{}(Δt={:.{}f}) ", worker, *took, digits) : fmt::format("{} ", worker);
    return all + "]";
  }
  const auto [first, last] = std::minmax_element(line.workers.begin(), line.workers.end());
  double least = INFINITY, most = -INFINITY;
  for (const auto& [worker, took] : line.workers)
    if (took) least = std::min(least, *took), most = std::max(most, *took);
  return fmt::format("[{} of {} to {}{} ]", line.workers.size(), first->first, last->first,
                     least > most ? ""
                                  : fmt::format(" (Δt={:.{}f} to {:.{}f})", least, digits, most, digits));
}

}  // namespace

std::string event_table(const recording& r) {
  const double first = first_of(r);
  const int digits = std::all_of(r.events.begin(), r.events.end(),
                                 [&](const auto& e) { return std::floor(e.at - first) == e.at - first; })
                         ? 0
                         : 1;
  const auto took = durations_of(r);
  std::map<std::tuple<double, std::uint32_t>, table_line> lines;
  std::size_t wide = 1, named = 5;
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    const auto& e = r.events[i];
    const double at = std::round((e.at - first) * (digits == 0 ? 1 : 10)) / (digits == 0 ? 1 : 10);
    auto& line = lines[{at, e.kind}];
    line.at = fmt::format("{:.{}f}", at, digits);
    line.event = r.kinds.at(e.kind).name;
    line.workers.emplace_back(e.worker, took[i]);
    wide = std::max(wide, line.at.size());
    named = std::max(named, line.event.size());
  }
  std::string text = fmt::format("{:>{}} | {:<{}} | {}(s)\n{:-<{}}-+-{:-<{}}-+--------\n", "t", wide, "event",
                                 named, r.worker_word, "", wide, "", named);
  for (const auto& [key, line] : lines)
    text += fmt::format("{:>{}} | {:<{}} | {}\n", line.at, wide, line.event, named, workers_of(line, digits));
  if (r.lost != 0) text += fmt::format("{} events are missing: the recorder was full\n", r.lost);
  return text;
}

timeline bars_of(const recording& r, figure_heading heading) {
  timeline t{std::move(heading), r.unit, {}, r.uncertainty};
  for (const auto& name : r.workers) t.tracks.push_back({name, {}});
  const double first = first_of(r);
  const auto took = durations_of(r);
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    const auto& e = r.events[i];
    if (took[i])
      t.tracks.at(e.worker).events.push_back({r.kinds[e.kind].bar, e.at - *took[i] - first, e.at - first});
  }
  return t;
}

bool is_recording(std::string_view text) {
  const auto skip_to = [&text](char wanted) {
    const auto at = text.find_first_not_of(" \t\r\n");
    const bool found = at != std::string_view::npos && text[at] == wanted;
    if (found) text.remove_prefix(at);
    return found;
  };
  if (!skip_to('{')) return false;
  text.remove_prefix(1);
  return skip_to('"') && text.starts_with("\"unit\"");
}

std::string text_of(const recording& r) { return dumped(to_json(r, whole_doubles::with_a_point)); }

recording recording_from_json(std::string_view text, const std::string& name) {
  const auto r = from_json<recording>(text, name);
  const auto refuse = [&](std::string_view list, std::size_t index, std::string_view what) {
    throw usage_error(fmt::format("{}.{}[{}]: expected {}", name, list, index, what));
  };
  for (std::size_t i = 0; i < r.kinds.size(); ++i)
    if (r.kinds[i].since.value_or(0) >= r.kinds.size())
      refuse("kinds", i, "the index of another kind under since");
  for (std::size_t i = 0; i < r.events.size(); ++i)
    if (const auto& e = r.events[i];
        e.worker >= r.workers.size() || e.kind >= r.kinds.size() || !std::isfinite(e.at))
      refuse("events", i, "a worker and a kind of this recording, and a time");
  return r;
}

}  // namespace mgsync
