#include "src/results/result_json.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/results/checksum.hpp"
#include "src/results/strict_json.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {

constexpr std::uint64_t largest_unsigned = std::numeric_limits<unsigned>::max();

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json text_or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

std::optional<unsigned> unsigned_or_null(object_reader& in, std::string_view key) {
  const auto value = in.count_or_null(key, largest_unsigned);
  return value ? std::optional<unsigned>(static_cast<unsigned>(*value)) : std::nullopt;
}

// One spelling for each member of latency_summary, for writing and reading.
using summary_member = std::pair<const char*, double latency_summary::*>;
constexpr summary_member summary_members[] = {
    {"median", &latency_summary::median},
    {"ci95_low", &latency_summary::ci95_low},
    {"ci95_high", &latency_summary::ci95_high},
    {"confidence", &latency_summary::confidence},
    {"min", &latency_summary::min},
    {"sigma", &latency_summary::sigma},
    {"spread", &latency_summary::spread},
};

ordered_json latency_to_json(const std::optional<latency_summary>& latency) {
  ordered_json out;
  const auto put = [&out](const char* name, std::optional<double> value) {
    out[name] = value && std::isfinite(*value) ? ordered_json(*value) : ordered_json();
  };
  for (const auto& [name, member] : summary_members)
    put(name, latency ? std::optional<double>((*latency).*member) : std::nullopt);
  put("p5", latency ? latency->p5 : std::nullopt);
  put("p95", latency ? latency->p95 : std::nullopt);
  return out;
}

std::optional<latency_summary> latency_from_json(const ordered_json& value, const std::string& path, bool measured) {
  object_reader in(value, path);
  latency_summary latency;
  for (const auto& [name, member] : summary_members) {
    const double number = in.number_or_null(name, std::numeric_limits<double>::quiet_NaN());
    if (!measured && !std::isnan(number)) throw usage_error(in.path_of(name) + ": a number that was not measured");
    latency.*member = number;
  }
  const auto optional_number = [&in](const char* name) {
    return in.member(name).is_null() ? std::nullopt : std::optional<double>(in.number(name));
  };
  latency.p5 = optional_number("p5");
  latency.p95 = optional_number("p95");
  in.finish();
  if (!measured) return {};
  return latency;
}

ordered_json check_to_json(const check_summary& check) {
  const bool unchecked = check.rounds == 0 && check.violations == 0;
  return {{"rounds", check.rounds},
          {"observations", check.observations},
          {"violations", unchecked ? ordered_json() : ordered_json(check.violations)},
          {"control_flagged", check.control_flagged},
          {"trivial", check.trivial},
          {"bound", unchecked ? ordered_json() : ordered_json(check.bound)}};
}

check_summary check_from_json(const ordered_json& value, const std::string& path) {
  object_reader in(value, path);
  check_summary check;
  check.rounds = in.count("rounds");
  check.observations = in.count("observations");
  check.violations = in.count_or_null("violations").value_or(0);
  check.control_flagged = in.flag("control_flagged");
  check.trivial = in.flag("trivial");
  check.bound = in.number_or_null("bound", 1);
  in.finish();
  return check;
}

constexpr std::pair<result_status, std::string_view> status_names[] = {
    {result_status::measured, "measured"}, {result_status::waived, "waived"}, {result_status::failed, "failed"}};

std::string_view name_of(result_status status) {
  for (const auto& [value, name] : status_names)
    if (value == status) return name;
  return "failed";
}

result_status status_named(const std::string& text, const std::string& path) {
  for (const auto& [value, name] : status_names)
    if (name == text) return value;
  throw usage_error(fmt::format("{}: '{}'; accepted: measured, waived, failed", path, text));
}

std::vector<std::string> notes_with_gaps(const result& one) {
  std::vector<std::string> notes = one.notes;
  if (!one.latency_us) return notes;
  for (const auto& [name, member] : summary_members)
    if (!std::isfinite((*one.latency_us).*member))
      notes.push_back(fmt::format("latency_us.{} is no finite number", name));
  return notes;
}

point read_point(object_reader& in) {
  point one;
  one.backend = in.text("backend");
  one.variant = in.text("variant");
  const std::string device = in.text("device");
  if (device != "host" && device != "gpu") throw usage_error(in.path_of("device") + ": accepted: host, gpu");
  one.device = device == "gpu" ? topology::device::gpu : topology::device::host;
  one.members = in.integer("members");
  one.ranks = in.integer("ranks");
  one.group = in.integers("group");
  one.node = in.text_or("node", "");  // results of before per-node measuring have none
  one.placement = in.text("placement");
  one.pinned = in.flag("pinned");
  one.oversubscribed = in.flag("oversubscribed");
  one.blocks_per_sm = unsigned_or_null(in, "blocks_per_sm");
  one.blocks = unsigned_or_null(in, "blocks");
  one.threads_per_block = unsigned_or_null(in, "threads_per_block");
  one.load = in.text("load");
  one.work_units = static_cast<std::uint32_t>(in.count("work_units", largest_unsigned));
  one.payload_words = static_cast<std::uint32_t>(in.count("payload_words", largest_unsigned));
  one.peer_memory_asked = in.text("peer_memory_asked");
  return one;
}

}  // namespace

ordered_json to_json(const point& one) {
  return {{"backend", one.backend},
          {"variant", one.variant},
          {"device", one.device == topology::device::gpu ? "gpu" : "host"},
          {"members", one.members},
          {"ranks", one.ranks},
          {"group", one.group},
          {"node", one.node},
          {"placement", one.placement},
          {"pinned", one.pinned},
          {"oversubscribed", one.oversubscribed},
          {"blocks_per_sm", or_null(one.blocks_per_sm)},
          {"blocks", or_null(one.blocks)},
          {"threads_per_block", or_null(one.threads_per_block)},
          {"load", one.load},
          {"work_units", one.work_units},
          {"payload_words", one.payload_words},
          {"peer_memory_asked", one.peer_memory_asked}};
}

std::string canonical_key(const point& one) {
  const nlohmann::json sorted = to_json(one);
  return sorted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string short_key(const point& one) { return hex(fnv1a_64(canonical_key(one))); }

ordered_json to_json(const result& one) {
  ordered_json out = to_json(one.point);
  out["status"] = name_of(one.status);
  out["reason"] = one.reason;
  out["check"] = check_to_json(one.check);
  out["latency_us"] = latency_to_json(one.latency_us);
  out["samples"] = one.samples.size();
  out["batches"] = one.batches;
  // Rounds may differ between samples only where a resumed sweep chose them anew; the last ones are reported.
  out["rounds_short"] = one.samples.empty() ? ordered_json() : ordered_json(one.samples.back().rounds_short);
  out["rounds_long"] = one.samples.empty() ? ordered_json() : ordered_json(one.samples.back().rounds_long);
  out["stopped"] = text_or_null(one.stopped);
  out["method"] = one.method;
  out["algorithm"] = text_or_null(one.algorithm);
  out["peer_memory"] = text_or_null(one.peer_memory);
  out["slowest_member"] = or_null(one.slowest_member);
  out["notes"] = notes_with_gaps(one);
  return out;
}

point point_from_json(const ordered_json& value, const std::string& path) {
  object_reader in(value, path);
  point one = read_point(in);
  in.finish();
  return one;
}

result result_from_json(const ordered_json& value, const std::string& path) {
  object_reader in(value, path);
  result one;
  one.point = read_point(in);
  one.status = status_named(in.text("status"), in.path_of("status"));
  one.reason = in.text("reason");
  one.check = check_from_json(in.member("check"), in.path_of("check"));
  one.latency_us =
      latency_from_json(in.member("latency_us"), in.path_of("latency_us"), one.status == result_status::measured);
  in.count("samples");
  one.batches = static_cast<std::uint32_t>(in.count("batches", largest_unsigned));
  in.count_or_null("rounds_short", largest_unsigned);
  in.count_or_null("rounds_long", largest_unsigned);
  one.stopped = in.text_or_null("stopped");
  one.method = in.text("method");
  one.algorithm = in.text_or_null("algorithm");
  one.peer_memory = in.text_or_null("peer_memory");
  if (!in.member("slowest_member").is_null()) one.slowest_member = in.integer("slowest_member");
  one.notes = in.texts("notes");
  in.pass_over("raw_us");
  in.pass_over("raw");
  in.finish();
  return one;
}

}  // namespace mgsync
