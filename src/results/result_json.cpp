#include "src/results/result_json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/strict_json.hpp"
#include "src/results/numbers_in_words.hpp"

namespace mgsync {

using nlohmann::ordered_json;

namespace {

// Whole numbers without a point; JSON has no other numbers than finite ones.
ordered_json number_json(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (!std::isfinite(value)) return nullptr;
  if (std::abs(value) < exact && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

ordered_json text_or_null(std::string_view text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

// One spelling for each number of a metric, for writing and reading.
using metric_number = std::pair<const char*, double metric::*>;
constexpr metric_number metric_numbers[] = {
    {"median", &metric::median},         {"ci95_low", &metric::ci95_low}, {"ci95_high", &metric::ci95_high},
    {"confidence", &metric::confidence}, {"min", &metric::min},           {"max", &metric::max},
    {"spread", &metric::spread},
};
using optional_number = std::pair<const char*, std::optional<double> metric::*>;
constexpr optional_number optional_numbers[] = {
    {"sigma", &metric::sigma}, {"p5", &metric::p5}, {"p95", &metric::p95}};

ordered_json to_json(const axis& one) {
  const double* number = std::get_if<double>(&one.value);
  return {
      {"value", number != nullptr ? number_json(*number) : ordered_json(std::get<std::string>(one.value))},
      {"unit", one.unit}};
}

axis axis_from_json(const std::string& name, const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  axis one{name, 0.0, in.get_or<std::string>("unit", "")};
  const ordered_json& what = in.member("value");
  if (what.is_string()) one.value = read_json<std::string>(what, in.path_of("value"));
  else if (what.is_number()) one.value = what.get<double>();
  else expected(in.path_of("value"), "a number or a word");
  return one;
}

ordered_json to_json(const metric& one) {
  ordered_json out = mgsync::to_json(static_cast<const metric_name&>(one));
  for (const auto& [name, member] : metric_numbers) out[name] = number_json(one.*member);
  for (const auto& [name, member] : optional_numbers)
    out[name] = (one.*member) ? number_json(*(one.*member)) : ordered_json();
  out["samples"] = one.samples;
  ordered_json raw = ordered_json::array();
  for (const double value : one.raw) raw.push_back(number_json(value));
  out["raw"] = std::move(raw);
  return out;
}

metric metric_from_json(const std::string& name, const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  metric one{metric_name_from_json(name, value, path)};
  for (const auto& [key, member] : metric_numbers) one.*member = in.get<double>(key);
  for (const auto& [key, member] : optional_numbers)
    one.*member = in.get_or<std::optional<double>>(key, std::nullopt);
  one.samples = in.get<std::size_t>("samples");
  one.raw = in.get<std::vector<double>>("raw");
  return one;
}

ordered_json to_json(const verdict& one) {
  ordered_json out = {{"kind", to_string(one.kind)},
                      {"scope", to_string(one.scope)},
                      {"passed", one.passed},
                      {"rounds", one.rounds},
                      {"observations", one.observations},
                      {"violations", one.violations},
                      {"control_flagged", one.control_flagged},
                      {"bound", one.bound ? ordered_json(*one.bound) : ordered_json()}};
  if (!one.details.empty()) out["details"] = one.details;
  return out;
}

verdict verdict_from_json(const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  verdict one;
  one.kind = in.get<verdict_kind>("kind");
  one.scope = in.get<verdict_scope>("scope");
  one.passed = in.get<bool>("passed");
  one.rounds = in.get_or<std::uint64_t>("rounds", 0);
  one.observations = in.get_or<std::uint64_t>("observations", 0);
  one.violations = in.get_or<std::uint64_t>("violations", 0);
  one.control_flagged = in.get_or<bool>("control_flagged", false);
  one.bound = in.get_or<std::optional<double>>("bound", std::nullopt);
  one.details = in.get_or<std::map<std::string, std::string>>("details", {});
  return one;
}

ordered_json to_json(const attachment& one) {
  return {{"name", one.name}, {"media_type", one.media_type}, {"content", one.content}};
}

std::vector<attachment> attachments_from_json(const object_reader& in) {
  std::vector<attachment> all;
  if (!in.has("attachments")) return all;
  for (const ordered_json& value : in.array("attachments")) {
    const object_reader one(value, fmt::format("{}[{}]", in.path_of("attachments"), all.size()));
    const auto& content = one.member("content");
    if (!content.is_string()) expected(one.path_of("content"), "text");
    all.push_back(
        {one.get<std::string>("name"), one.get<std::string>("media_type"), content.get<std::string>()});
  }
  return all;
}

ordered_json to_json(const quantity& one) {
  ordered_json values = ordered_json::array();
  for (const double value : one.values) values.push_back(number_json(value));
  return {{"unit", one.unit}, {"values", std::move(values)}};
}

quantities_by_name quantities_from_json(const object_reader& in) {
  quantities_by_name all;
  if (!in.has("quantities")) return all;
  const ordered_json& listed = in.member("quantities");
  if (!listed.is_object()) expected(in.path_of("quantities"), "an object");
  for (const auto& [name, value] : listed.items()) {
    const object_reader one(value, fmt::format("{}.{}", in.path_of("quantities"), name));
    all[name] = {one.get<std::string>("unit"), one.get<std::vector<double>>("values")};
  }
  return all;
}

ordered_json to_json(const doubt& one) {
  return {{"kind", one.kind}, {"amount", number_json(one.amount)}, {"text", one.text}};
}

std::vector<doubt> doubts_from_json(const object_reader& in) {
  std::vector<doubt> all;
  if (!in.has("doubts")) return all;
  for (const ordered_json& value : in.array("doubts")) {
    const object_reader one(value, fmt::format("{}[{}]", in.path_of("doubts"), all.size()));
    all.push_back({one.get<std::string>("kind"), one.get<double>("amount"), one.get<std::string>("text")});
  }
  return all;
}

ordered_json to_json(const known_facts& one) {
  return {{"origin", to_string<fact::origin>(one.origin)},
          {"driver", to_string<fact::driver>(one.driver)},
          {"scope", to_string<fact::scope>(one.scope)},
          {"extent", to_string<fact::extent>(one.extent)},
          {"order", to_string<fact::order>(one.order)},
          {"maker", one.maker},
          {"call", one.call},
          {"needs", one.needs}};
}

std::optional<known_facts> facts_from_json(const object_reader& from) {
  if (!from.has("facts")) return std::nullopt;
  const object_reader in(from.member("facts"), from.path_of("facts"));
  return known_facts{{.origin = in.get<fact::origin>("origin"),
                      .driver = in.get<fact::driver>("driver"),
                      .scope = in.get<fact::scope>("scope"),
                      .extent = in.get<fact::extent>("extent"),
                      .order = in.get<fact::order>("order")},
                     in.get_or<std::string>("maker", ""),
                     in.get_or<std::string>("call", ""),
                     in.get_or<std::string>("needs", "")};
}

std::vector<std::string> notes_with_gaps(const result& one) {
  std::vector<std::string> notes = one.notes;
  for (const metric& each : one.metrics)
    for (const auto& [name, member] : metric_numbers)
      if (!std::isfinite(each.*member))
        notes.push_back(fmt::format("{}.{} is no finite number", each.name, name));
  return notes;
}

// The names of all columns in the order in which they come up.
std::vector<std::string> columns_of(const std::vector<sample>& samples) {
  std::vector<std::string> names;
  for (const sample& one : samples)
    for (const named_value& each : one.values)
      if (std::find(names.begin(), names.end(), each.name) == names.end()) names.push_back(each.name);
  return names;
}

ordered_json column_json(const std::vector<sample>& samples, std::string_view name) {
  ordered_json column = ordered_json::array();
  for (const sample& one : samples) column.push_back(number_json(one.at(name)));
  return column;
}

void add_column(std::vector<sample>& samples, const std::string& name, const std::vector<double>& values,
                const std::string& path) {
  if (values.size() != samples.size())
    throw usage_error(
        fmt::format("{}: the samples differ in number: {} and {}", path, values.size(), samples.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) samples[i].values.push_back({name, values[i]});
}

}  // namespace

ordered_json to_json(const point& one) {
  ordered_json listed = ordered_json::object();
  for (const axis& each : one.axes) listed[each.name] = to_json(each);
  return {{"study", one.study},         {"subject", one.subject},
          {"variant", one.variant},     {"device", to_string(one.device)},
          {"members", one.members},     {"ranks", one.ranks},
          {"group", one.group},         {"node", one.node},
          {"placement", one.placement}, {"axes", std::move(listed)}};
}

point point_from_json(const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  point one;
  one.study = in.get<std::string>("study");
  one.subject = in.get<std::string>("subject");
  one.variant = in.get<std::string>("variant");
  one.device = in.get<topology::device>("device");
  one.members = in.get<int>("members");
  one.ranks = in.get<int>("ranks");
  one.group = in.get<std::vector<int>>("group");
  one.node = in.get<std::string>("node");
  one.placement = in.get<std::string>("placement");
  const ordered_json& listed = in.member("axes");
  if (!listed.is_object()) expected(in.path_of("axes"), "an object");
  for (const auto& [name, each] : listed.items())
    one.axes.push_back(axis_from_json(name, each, fmt::format("{}.{}", in.path_of("axes"), name)));
  return one;
}

ordered_json to_json(const sample& one) {
  ordered_json out = ordered_json::object();
  for (const named_value& each : one.values) out[each.name] = number_json(each.value);
  return out;
}

sample sample_from_json(std::uint32_t batch, const ordered_json& values, const std::string& path) {
  if (!values.is_object()) expected(path, "an object");
  sample one{batch, {}};
  for (const auto& [name, value] : values.items())
    if (!value.is_null())
      one.values.push_back({name, read_json<double>(value, fmt::format("{}.{}", path, name))});
  return one;
}

ordered_json to_json(const metric_name& one) {
  return {{"unit", one.unit}, {"better", to_string(one.better)}};
}

metric_name metric_name_from_json(const std::string& name, const ordered_json& value,
                                  const std::string& path) {
  const object_reader in(value, path);
  return {name, in.get<std::string>("unit"), in.get<better>("better")};
}

ordered_json to_json(const result& one) {
  ordered_json metrics = ordered_json::object(), attachments = ordered_json::array();
  for (const metric& each : one.metrics) metrics[each.name] = to_json(each);
  for (const attachment& each : one.attachments) attachments.push_back(to_json(each));
  ordered_json out = to_json(one.point);
  out["status"] = to_string(one.status);
  out["reason"] = one.reason;
  out["verdict"] = to_json(one.verdict);
  out["metrics"] = std::move(metrics);
  out["method"] = one.method;
  out["stopped"] = text_or_null(to_string(one.stopped));
  out["attempt"] = one.attempt;
  out["attachments"] = std::move(attachments);
  out["environment"] = ordered_json(one.environment);
  for (const auto& [name, each] : one.quantities) out["quantities"][name] = to_json(each);
  out["notes"] = notes_with_gaps(one);
  for (const doubt& each : one.doubts) out["doubts"].push_back(to_json(each));
  if (one.facts) out["facts"] = to_json(*one.facts);
  return out;
}

result result_from_json(const ordered_json& value, const std::string& path) {
  const object_reader in(value, path);
  result one;
  one.point = point_from_json(value, path);
  one.status = in.get<result_status>("status");
  one.reason = in.get<std::string>("reason");
  one.verdict = verdict_from_json(in.member("verdict"), in.path_of("verdict"));
  const ordered_json& metrics = in.member("metrics");
  if (!metrics.is_object()) expected(in.path_of("metrics"), "an object");
  for (const auto& [name, each] : metrics.items())
    one.metrics.push_back(metric_from_json(name, each, fmt::format("{}.{}", in.path_of("metrics"), name)));
  one.method = in.get_or<std::string>("method", "");
  one.stopped = in.get_or("stopped", stop_reason::none);
  one.attempt = in.get_or<std::uint32_t>("attempt", 1);
  one.attachments = attachments_from_json(in);
  one.environment = in.get_or<std::map<std::string, std::string>>("environment", {});
  one.quantities = quantities_from_json(in);
  take_numbers_from_words(one);
  one.notes = in.get_or<std::vector<std::string>>("notes", {});
  one.doubts = doubts_from_json(in);
  one.facts = facts_from_json(in);
  return one;
}

ordered_json with_samples(const result& one) {
  ordered_json out = to_json(one);
  ordered_json columns = ordered_json::object(), batches = ordered_json::array();
  for (const sample& each : one.samples) batches.push_back(each.batch);
  columns["batch"] = std::move(batches);
  for (const std::string& name : columns_of(one.samples)) columns[name] = column_json(one.samples, name);
  out["samples"] = std::move(columns);
  return out;
}

result result_with_samples(const ordered_json& value, const std::string& path) {
  result one = result_from_json(value, path);
  const object_reader in(value, path);
  const ordered_json& columns = in.member("samples");
  const object_reader table(columns, in.path_of("samples"));
  for (const auto batch : table.get<std::vector<std::uint32_t>>("batch")) one.samples.push_back({batch, {}});
  for (const auto& [name, column] : columns.items())
    if (name != "batch")
      add_column(one.samples, name, read_json<std::vector<double>>(column, table.path_of(name)), path);
  return one;
}

}  // namespace mgsync
