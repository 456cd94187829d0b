#include "src/results/files/result_file.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/units.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/results/files/store_reading.hpp"

namespace mgsync {
namespace {

constexpr std::string_view accepted = "a file of --json or --store";

// For files of another kind, says what they are rather than where the JSON parser failed.
void refuse_other_text(std::string_view text, const std::string& name) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const auto refuse = [&](std::string_view what) {
    throw usage_error(fmt::format("{}: {}; accepted: {}", name, what, accepted));
  };
  if (first == std::string_view::npos) refuse("the file is empty");
  if (text[first] == '<') refuse("a picture, a page or XML, and no results");
  if (text[first] != '{') refuse("text of another kind, and no results");
}

}  // namespace

result_file read_result_file(const std::string& name) {
  return result_file_of(name, read_text(name, accepted));
}

result_file result_file_of(const std::string& name, std::string_view text) {
  refuse_other_text(text, name);
  result_file file;
  file.name = name;
  // A store is one JSON object a line, and its first line says so; a document is indented.
  if (!text.starts_with("{\"") || text.find("\"mgsync-store/") >= text.find('\n')) {
    try {
      file.document = parse_json(text, name);
    } catch (const usage_error& error) {
      throw usage_error(fmt::format("{}; accepted: {}", error.what(), accepted));
    }
    file.complete = file.document.ended == "complete";
    return file;
  }
  if (is_packed_name(name))
    throw usage_error(fmt::format("{}: a store is read as it is; unpack it first", name));
  store_contents stored = contents_of(scan_store_text(text, name), name);
  file.is_store = true;
  file.complete = stored.complete && stored.ended == "complete";
  file.damage = std::move(stored.damage);
  // What failed, and was not tried again, has its result.
  const auto has_a_result = [&stored](const unfinished_point& one) {
    return std::any_of(stored.finished.begin(), stored.finished.end(),
                       [&one](const result& r) { return r.point == one.point; });
  };
  std::erase_if(stored.unfinished, has_a_result);
  file.unfinished = std::move(stored.unfinished);
  file.document.ended = file.complete ? "complete" : stored.ended.empty() ? "interrupted" : stored.ended;
  file.document.command = stored.header.command;
  file.document.seed = stored.header.seed;
  file.document.started = stored.header.started;
  file.document.machine = std::move(stored.header.machine);
  file.document.settings = std::move(stored.header.settings);
  file.document.results = std::move(stored.finished);
  return file;
}

table made_by(const std::vector<std::string>& files) {
  table t{{"files", "What measured these files"},
          {"file", "commit", "day", "machine", "driver", "NCCL", "rounds checked", "ms a point"}};
  for (const auto& name : files) {
    const auto document = read_result_file(name).document;
    const auto& settings = document.settings;
    const auto setting = [&](const std::string& key) -> std::optional<std::string> {
      const auto found = settings.find(key);
      return found == settings.end() ? std::nullopt : std::optional(found->second);
    };
    const auto& version = document.machine.mgsync;  // "0.1.0 (302b637)"
    const auto open = version.find('(');
    const auto& gpus = document.machine.gpus;
    const auto max_time = setting("max_time_s");
    t.add({name, open == std::string::npos ? version : version.substr(open + 1, version.find(')') - open - 1),
           document.started.substr(0, 10),
           gpus.empty() ? counted(document.machine.cores, "core")
                        : fmt::format("{} x {}", gpus.size(), gpus.front().name),
           setting("driver"), setting("NCCL"), setting("check_rounds"),
           max_time ? table_entry(fmt::format("{:.0f}", 1000 * std::strtod(max_time->c_str(), nullptr)))
                    : std::nullopt});
  }
  return t;
}

}  // namespace mgsync
