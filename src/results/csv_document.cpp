#include "src/results/csv_document.hpp"

#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mgsync {
namespace {

using column = std::pair<const char*, std::string>;

template <class Value>
std::string text_of(const std::optional<Value>& value) {
  if constexpr (std::is_floating_point_v<Value>)
    return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
  else
    return value ? fmt::format("{}", *value) : std::string();
}

std::string_view name_of(result_status status) {
  switch (status) {
    case result_status::measured:
      return "measured";
    case result_status::waived:
      return "waived";
    case result_status::failed:
      return "failed";
  }
  return "failed";
}

// Names and values side by side, so that the header cannot drift from the rows.
std::vector<column> columns_of(const result& one) {
  const point& p = one.point;
  const auto latency = [&one](double latency_summary::*member) {
    return text_of(one.latency_us ? std::optional<double>((*one.latency_us).*member) : std::nullopt);
  };
  const auto percentile = [&one](std::optional<double> latency_summary::*member) {
    return text_of(one.latency_us ? (*one.latency_us).*member : std::nullopt);
  };
  const auto rounds = [&one](std::uint32_t sample::*member) {
    return text_of(one.samples.empty() ? std::nullopt : std::optional<std::uint32_t>(one.samples.back().*member));
  };
  const bool unchecked = one.check.rounds == 0 && one.check.violations == 0;
  return {{"backend", p.backend},
          {"variant", p.variant},
          {"device", p.device == topology::device::gpu ? "gpu" : "host"},
          {"members", fmt::format("{}", p.members)},
          {"ranks", fmt::format("{}", p.ranks)},
          {"group", fmt::format("{}", fmt::join(p.group, " "))},
          {"node", p.node},
          {"placement", p.placement},
          {"pinned", fmt::format("{}", p.pinned)},
          {"oversubscribed", fmt::format("{}", p.oversubscribed)},
          {"blocks_per_sm", text_of(p.blocks_per_sm)},
          {"blocks", text_of(p.blocks)},
          {"threads_per_block", text_of(p.threads_per_block)},
          {"load", p.load},
          {"work_units", fmt::format("{}", p.work_units)},
          {"payload_words", fmt::format("{}", p.payload_words)},
          {"peer_memory_asked", p.peer_memory_asked},
          {"status", std::string(name_of(one.status))},
          {"reason", one.reason},
          {"check_rounds", fmt::format("{}", one.check.rounds)},
          {"check_violations", unchecked ? "" : fmt::format("{}", one.check.violations)},
          {"latency_us", latency(&latency_summary::median)},
          {"ci95_low_us", latency(&latency_summary::ci95_low)},
          {"ci95_high_us", latency(&latency_summary::ci95_high)},
          {"ci_confidence", latency(&latency_summary::confidence)},
          {"min_us", latency(&latency_summary::min)},
          {"sigma_us", latency(&latency_summary::sigma)},
          {"spread_us", latency(&latency_summary::spread)},
          {"p5_us", percentile(&latency_summary::p5)},
          {"p95_us", percentile(&latency_summary::p95)},
          {"samples", fmt::format("{}", one.samples.size())},
          {"batches", fmt::format("{}", one.batches)},
          {"rounds_short", rounds(&sample::rounds_short)},
          {"rounds_long", rounds(&sample::rounds_long)},
          {"stopped", one.stopped},
          {"method", one.method},
          {"algorithm", one.algorithm},
          {"peer_memory", one.peer_memory},
          {"slowest_member", text_of(one.slowest_member)},
          {"notes", fmt::format("{}", fmt::join(one.notes, "; "))}};
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

std::string format_csv(std::span<const result> results) {
  std::string out;
  std::string_view separator;
  for (const auto& [name, value] : columns_of(result{})) {
    out += fmt::format("{}{}", separator, name);
    separator = ",";
  }
  out += "\r\n";
  for (const result& one : results) {
    separator = "";
    for (const auto& [name, value] : columns_of(one)) {
      out += fmt::format("{}{}", separator, csv_field(value));
      separator = ",";
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace mgsync
