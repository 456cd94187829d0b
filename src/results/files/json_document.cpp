#include "src/results/files/json_document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/results/files/numbers_in_text.hpp"

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
  const ordered_json all = to_json(document);
  std::string out;
  print(all, 0, out);
  return out + '\n';
}

json_document parse_json(std::string_view text, const std::string& name) {
  const auto schema = text_under("schema", text, name);
  if (!schema)
    throw usage_error(fmt::format("{}: JSON of another kind, and no results (it has no \"schema\")", name));
  if (*schema != results_schema)
    throw usage_error(fmt::format("{}: its schema is '{}', which is not read; accepted: '{}'", name, *schema,
                                  results_schema));
  json_document document;
  document.ended.clear();
  read_json(text, name, document);
  std::ranges::for_each(document.results, take_numbers_from_text);
  const auto early = [](const result& one) { return one.status == result_status::interrupted; };
  if (document.ended.empty())
    document.ended =
        std::ranges::any_of(document.results, early) ? to_string(stop_reason::interrupted) : "complete";
  return document;
}

std::vector<std::string> measuring_commands(const json_document& d) {
  std::vector<std::string> all;
  for (int file = 1;; ++file) {
    const auto merged = d.settings.find(fmt::format("merged_{}", file));  // "NAME: COMMAND"
    if (merged == d.settings.end()) break;
    auto command = merged->second.substr(merged->second.find(' ') + 1);
    if (std::ranges::find(all, command) == all.end()) all.push_back(std::move(command));
  }
  return all.empty() ? std::vector{d.command} : all;
}

}  // namespace mgsync
