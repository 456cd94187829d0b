// What a kernel recorded by mgsync/timeline.cuh, as files that show it. For host code, C++17.
//
//     mgsync::kernel_timeline timeline({"load", "multiply"});  // what ids 0 and 1 are called
//     for (const auto& warp : warps) timeline.add(warp);       // copied back: warp_events<64>
//     std::ofstream("recording.json") << timeline.recording();
//     std::ofstream("trace.json") << timeline.trace();
//
// `mgsync show recording.json [--svg picture.svg]` shows the first, ui.perfetto.dev the second.
//
// Times are the SM's cycles, each SM's from its own first stamp, as SMs' counters share no zero; with the
// GPU's timer stamped (event_buffer<4, 64, true>) they are ns on one axis, known to within two of its steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mgsync/timeline.cuh>

namespace mgsync { inline namespace v1 {

class kernel_timeline {
 public:
  // `names`: what the ids 0, 1, ... are called. `title`: of the kernel.
  explicit kernel_timeline(std::vector<std::string> names, std::string title = "kernel")
      : names_(std::move(names)), title_(std::move(title)) {}

  // Adds what one warp recorded; without a name it is called "block 0 warp 3". A warp that stamped nothing is
  // left out.
  template <unsigned Capacity, bool WithTimer>
  void add(const warp_events<Capacity, WithTimer>& warp, std::string name = {}) {
    if (warp.stamped == 0) return;
    if (name.empty()) name = "block " + std::to_string(warp.block) + " warp " + std::to_string(warp.warp);
    const auto which = static_cast<std::uint32_t>(warps_.size());
    warps_.push_back(std::move(name));
    lost_ += warp.lost();
    for (std::uint32_t i = 0; i < warp.kept(); ++i) {
      const auto& s = warp[i];
      std::uint64_t timer_ns = 0;
      if constexpr (WithTimer) timer_ns = s.timer_ns;
      all_have_timer_ = all_have_timer_ && timer_ns != 0;
      stamps_.push_back({which, s.id, warp.sm, s.clock, timer_ns});
    }
  }

  // For `mgsync show`: every stamp, as JSON. Ranges within ranges have rows of their own.
  std::string recording() const {
    const auto rows = placed();
    std::string kinds, workers, events;
    for (std::uint32_t id = 0; id < known_ids(); ++id) {
      const auto name = called(id);
      kinds += (id == 0 ? "" : ",") + ("{\"name\":" + quoted(name)) +
               "},{\"name\":" + quoted(name + " begins") + "},{\"name\":" + quoted(name + " ends") +
               ",\"since\":" + std::to_string(id * 3 + 1) + ",\"bar\":" + quoted(name) + "}";
    }
    for (const auto& one : rows.workers) workers += (workers.empty() ? "" : ",") + quoted(one);
    for (const auto& e : rows.events)
      events += (events.empty() ? "[" : ",[") + number(e.at) + "," + std::to_string(e.worker) + "," +
                std::to_string(e.what->plain_id() * 3 + e.what->part()) + ",0," +
                std::to_string(e.what->clock) + "," + std::to_string(e.what->timer_ns) + "," +
                std::to_string(e.what->sm) + "]";
    return std::string("{\"unit\":\"") + unit() + "\",\"worker_word\":\"warp\",\"workers\":[" + workers +
           "],\"kinds\":[" + kinds + "],\"uncertainty\":" + number(all_have_timer_ ? rows.uncertainty : 0) +
           ",\"lost\":" + std::to_string(lost_) +
           ",\"columns\":[\"at\",\"worker\",\"kind\",\"round\",\"clock\",\"timer_ns\",\"processor\"],"
           "\"events\":[" +
           events + "]}\n";
  }

  // For Perfetto and chrome://tracing, in the trace event format, which knows microseconds only: a cycle is
  // shown as a nanosecond.
  std::string trace() const {
    const auto rows = placed();
    std::string events =
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":" + quoted(title_) +
        "}}";
    for (std::size_t i = 0; i < rows.workers.size(); ++i)
      events += ",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":" + std::to_string(i) +
                ",\"args\":{\"name\":" + quoted(rows.workers[i]) + "}}";
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> begun;  // by row and id
    for (const auto& e : rows.events) {
      const auto id = e.what->plain_id();
      if (e.what->part() == 1) begun[{e.worker, id}] = e.at;
      const auto from = begun.find({e.worker, id});
      const bool ends = e.what->part() == 2;
      if (e.what->part() == 1 || (ends && from == begun.end())) continue;
      events += ",{\"ph\":\"" + std::string(ends ? "X" : "i") + "\",\"name\":" + quoted(called(id)) +
                ",\"pid\":0,\"tid\":" + std::to_string(e.worker) +
                ",\"ts\":" + number((ends ? from->second : e.at) * 1e-3) +
                (ends ? ",\"dur\":" + number((e.at - from->second) * 1e-3) : std::string(",\"s\":\"t\"")) +
                "}";
      if (ends) begun.erase(from);
    }
    return std::string("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"") +
           (all_have_timer_ ? "as shown" : "1 ns shown is 1 cycle") + "\"},\"traceEvents\":[" + events +
           "]}\n";
  }

 private:
  struct stamp {
    std::uint32_t warp, id, sm;
    std::uint64_t clock, timer_ns;
    std::uint32_t plain_id() const { return id & ~(range_begins | range_ends); }
    std::uint32_t part() const { return (id & range_begins) != 0 ? 1 : (id & range_ends) != 0 ? 2 : 0; }
  };
  struct placed_stamp {
    double at;
    std::uint32_t worker;
    const stamp* what;
  };
  struct placed_rows {
    std::vector<std::string> workers;
    std::vector<placed_stamp> events;
    double uncertainty = 0;
  };

  const char* unit() const { return all_have_timer_ ? "ns" : "cycles"; }
  std::string called(std::uint32_t id) const {
    return id < names_.size() ? names_[id] : "id " + std::to_string(id);
  }
  std::uint32_t known_ids() const {
    auto count = static_cast<std::uint32_t>(names_.size());
    for (const auto& s : stamps_) count = std::max(count, s.plain_id() + 1);
    return count;
  }

  placed_rows placed() const {
    placed_rows rows;
    std::map<std::uint32_t, std::pair<const stamp*, const stamp*>> of_sm;  // the earliest and the latest
    for (const auto& s : stamps_) {
      auto& [first, last] = of_sm.try_emplace(s.sm, &s, &s).first->second;
      if (s.clock < first->clock) first = &s;
      if (s.clock > last->clock) last = &s;
    }
    const auto [per_cycle, step] = all_have_timer_ ? ns_per_cycle(of_sm) : std::make_pair(1.0, 0.0);
    std::uint64_t zero_ns = ~std::uint64_t{0};
    for (const auto& s : stamps_) zero_ns = std::min(zero_ns, s.timer_ns);
    // The timer shows the last of its steps: no stamp was made before what it showed then.
    std::map<std::uint32_t, double> shift;
    if (all_have_timer_)
      for (const auto& s : stamps_) {
        const double least =
            static_cast<double>(s.timer_ns - zero_ns) - cycles_since(s, *of_sm[s.sm].first) * per_cycle;
        const auto found = shift.try_emplace(s.sm, least).first;
        found->second = std::max(found->second, least);
      }
    rows.uncertainty = 2 * step;
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> row_of;  // by warp and depth
    std::map<std::uint32_t, std::vector<std::uint32_t>> open;  // by warp: the ranges that it is in
    for (const auto& s : stamps_) {
      auto& in = open[s.warp];
      if (s.part() == 2) {
        const auto begun = std::find(in.rbegin(), in.rend(), s.plain_id());
        if (begun == in.rend()) continue;  // its begin is gone
        in.erase(begun.base() - 1, in.end());
      }
      const auto [row, is_new] =
          row_of.try_emplace({s.warp, in.size()}, static_cast<std::uint32_t>(rows.workers.size()));
      if (is_new)
        rows.workers.push_back(warps_[s.warp] + (in.empty() ? "" : ", within " + std::to_string(in.size())));
      if (s.part() == 1) in.push_back(s.plain_id());
      rows.events.push_back(
          {cycles_since(s, *of_sm[s.sm].first) * per_cycle + (shift.count(s.sm) != 0 ? shift[s.sm] : 0),
           row->second, &s});
    }
    return rows;
  }

  static double cycles_since(const stamp& s, const stamp& first) {
    return static_cast<double>(s.clock - first.clock);
  }

  // How long a cycle is, by the SM that recorded the longest; and the smallest step that the timer was seen
  // to take.
  std::pair<double, double> ns_per_cycle(
      const std::map<std::uint32_t, std::pair<const stamp*, const stamp*>>& of_sm) const {
    double longest = 0, ns = 0;
    for (const auto& one : of_sm) {
      const auto& [first, last] = one.second;
      if (cycles_since(*last, *first) <= longest) continue;
      longest = cycles_since(*last, *first);
      ns = static_cast<double>(last->timer_ns - first->timer_ns);
    }
    std::vector<std::uint64_t> seen;
    for (const auto& s : stamps_) seen.push_back(s.timer_ns);
    std::sort(seen.begin(), seen.end());
    double step = 0;
    for (std::size_t i = 1; i < seen.size(); ++i)
      if (const auto apart = static_cast<double>(seen[i] - seen[i - 1]);
          apart > 0 && (step == 0 || apart < step))
        step = apart;
    return {longest > 0 && ns > 0 ? ns / longest : 1.0, step};
  }

  static std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", value);
    return text;
  }
  static std::string quoted(const std::string& words) {
    std::string text = "\"";
    for (const char c : words) {
      if (c == '"' || c == '\\') text += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) text += c;
    }
    return text + "\"";
  }

  std::vector<std::string> names_, warps_;
  std::string title_;
  std::vector<stamp> stamps_;
  std::uint64_t lost_ = 0;
  bool all_have_timer_ = true;
};

}}  // namespace mgsync::v1
