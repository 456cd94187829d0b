#include "src/results/json_document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/strict_json.hpp"
#include "src/results/first_schema.hpp"
#include "src/results/result_json.hpp"

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

}  // namespace

std::string format_json(const json_document& document) {
  ordered_json results = ordered_json::array();
  for (const result& one : document.results) results.push_back(with_samples(one));
  const ordered_json all = {{"schema", results_schema},
                            {"command", document.command},
                            {"seed", document.seed},
                            {"started", document.started},
                            {"ended", document.ended},
                            {"machine", to_json(document.machine)},
                            {"settings", ordered_json(document.settings)},
                            {"results", std::move(results)}};
  std::string out;
  print(all, 0, out);
  return out + '\n';
}

json_document parse_json(std::string_view text, const std::string& name) {
  const ordered_json all = parse_strictly(text, name);
  const object_reader in(all, name);
  if (!in.has("schema"))
    throw usage_error(fmt::format("{}: JSON of another kind, and no results (it has no \"schema\")", name));
  const auto schema = in.get<std::string>("schema");
  if (schema != results_schema && schema != first_schema::results)
    throw usage_error(fmt::format("{}: schema '{}'; this mgsync reads '{}' and '{}'", name, schema,
                                  results_schema, first_schema::results));
  const auto read = schema == results_schema ? result_with_samples : first_schema::result_with_samples;
  json_document document;
  document.command = in.get<std::string>("command");
  document.seed = in.get<std::uint64_t>("seed");
  document.started = in.get<std::string>("started");
  document.ended = in.get_or<std::string>("ended", "complete");
  document.machine = machine_from_json(in.member("machine"), in.path_of("machine"));
  document.settings = in.get<std::map<std::string, std::string>>("settings");
  for (const ordered_json& value : in.array("results"))
    document.results.push_back(
        read(value, fmt::format("{}[{}]", in.path_of("results"), document.results.size())));
  const auto early = [](const result& one) { return one.status == result_status::interrupted; };
  if (!in.has("ended") && std::any_of(document.results.begin(), document.results.end(), early))
    document.ended = to_string(stop_reason::interrupted);
  return document;
}

}  // namespace mgsync
