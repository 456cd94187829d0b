#include "src/results/json_document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/results/result_json.hpp"
#include "src/results/strict_json.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {

bool all_scalars(const ordered_json& value) {
  return std::all_of(value.begin(), value.end(), [](const ordered_json& one) { return one.is_primitive(); });
}

void print(const ordered_json& value, std::size_t indent, std::string& out) {
  if (value.is_primitive()) {
    out += value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    return;
  }
  const bool object = value.is_object();
  const bool one_line = indent > 0 && all_scalars(value);
  const std::string break_inside = one_line ? "" : "\n" + std::string(indent + 2, ' ');
  std::string_view separator;
  out += object ? '{' : '[';
  for (const auto& [key, one] : value.items()) {
    out += separator;
    if (one_line && !separator.empty()) out += ' ';
    out += break_inside;
    if (object) out += ordered_json(key).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + ": ";
    print(one, indent + 2, out);
    separator = ",";
  }
  if (!one_line && !value.empty()) out += "\n" + std::string(indent, ' ');
  out += object ? '}' : ']';
}

ordered_json with_samples(const result& one) {
  ordered_json out = to_json(one);
  ordered_json latencies = ordered_json::array();
  ordered_json batch = latencies, short_us = latencies, long_us = latencies;
  ordered_json rounds_short = latencies, rounds_long = latencies;
  for (const sample& each : one.samples) {
    latencies.push_back(each.latency_us());
    batch.push_back(each.batch);
    short_us.push_back(each.short_us);
    long_us.push_back(each.long_us);
    rounds_short.push_back(each.rounds_short);
    rounds_long.push_back(each.rounds_long);
  }
  out["raw_us"] = std::move(latencies);
  out["raw"] = {{"batch", std::move(batch)},
                {"short_us", std::move(short_us)},
                {"long_us", std::move(long_us)},
                {"rounds_short", std::move(rounds_short)},
                {"rounds_long", std::move(rounds_long)}};
  return out;
}

std::vector<sample> samples_from_json(const ordered_json& value, const std::string& path) {
  object_reader outer(value, path);
  object_reader in(outer.member("raw"), outer.path_of("raw"));
  const auto batch = in.counts("batch");
  const auto short_us = in.numbers("short_us");
  const auto long_us = in.numbers("long_us");
  const auto rounds_short = in.counts("rounds_short");
  const auto rounds_long = in.counts("rounds_long");
  in.finish();
  const std::size_t count = outer.numbers("raw_us").size();
  for (const std::size_t size : {batch.size(), short_us.size(), long_us.size(), rounds_short.size(), rounds_long.size(),
                                 static_cast<std::size_t>(outer.count("samples"))})
    if (size != count) throw usage_error(fmt::format("{}: the samples differ in number: {} and {}", path, size, count));
  std::vector<sample> samples;
  samples.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (rounds_short[i] == 0 || rounds_long[i] <= rounds_short[i])
      throw usage_error(fmt::format("{}: rounds_long must be more than rounds_short, and that more than 0", path));
    samples.push_back({batch[i], short_us[i], long_us[i], rounds_short[i], rounds_long[i]});
  }
  return samples;
}

}  // namespace

std::string format_json(const json_document& document) {
  ordered_json results = ordered_json::array();
  for (const result& one : document.results) results.push_back(with_samples(one));
  const ordered_json all = {{"schema", results_schema},
                            {"command", document.command},
                            {"seed", document.seed},
                            {"started", document.started},
                            {"machine", to_json(document.machine)},
                            {"settings", ordered_json(document.settings)},
                            {"results", std::move(results)}};
  std::string out;
  print(all, 0, out);
  return out + '\n';
}

json_document parse_json(std::string_view text, const std::string& name) {
  const ordered_json all = parse_strictly(text, name);
  object_reader in(all, name);
  if (const std::string schema = in.text("schema"); schema != results_schema)
    throw usage_error(fmt::format("{}: schema '{}'; this mgsync reads '{}'", name, schema, results_schema));
  json_document document;
  document.command = in.text("command");
  document.seed = in.count("seed");
  document.started = in.text("started");
  document.machine = machine_from_json(in.member("machine"), in.path_of("machine"));
  const ordered_json& settings_json = in.member("settings");
  object_reader settings(settings_json, in.path_of("settings"));
  for (const auto& [key, value] : settings_json.items()) document.settings[key] = settings.text(key);
  const ordered_json& results = in.member("results");
  if (!results.is_array()) throw usage_error(in.path_of("results") + ": expected an array");
  for (const ordered_json& value : results) {
    const std::string path = fmt::format("{}[{}]", in.path_of("results"), document.results.size());
    result one = result_from_json(value, path);
    one.samples = samples_from_json(value, path);
    document.results.push_back(std::move(one));
  }
  in.finish();
  return document;
}

}  // namespace mgsync
