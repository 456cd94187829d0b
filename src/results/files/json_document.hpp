// The results of one command as a JSON document, schema "mgsync-results/2" (docs/results-schema.json,
// docs/results.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/values/machine_record.hpp"
#include "src/results/values/result.hpp"

namespace mgsync {

inline constexpr std::string_view results_schema = "mgsync-results/2";

struct json_document {
  std::string command;  // as it was typed
  std::uint64_t seed = 0;
  std::string started;             // UTC, "2026-01-31T12:00:00Z"
  std::string ended = "complete";  // or what ended the command early: "interrupted", "failed", "error"
  machine_record machine;
  std::map<std::string, std::string>
      settings;  // settings that affect results: precision, max-time, check-rounds, ...
  std::vector<result> results;
};
void fields(auto& way, json_document& d) {
  std::string schema(results_schema);
  way.needs("schema", schema);
  way.needs("command", d.command);
  way.needs("seed", d.seed);
  way.needs("started", d.started);
  way.may("ended", d.ended);
  way.needs("machine", d.machine);
  way.needs("settings", d.settings);
  way.needs("results", each_by{d.results, [](auto& inner, result& r) { all_fields(inner, r); }});
}

// The commands that measured it, each once: of a merged document those of its files.
std::vector<std::string> measuring_commands(const json_document&);

// The document as indented JSON, where a list or object of plain values takes one line; ends with a newline.
// Never contains NaN or infinity.
std::string format_json(const json_document&);

// Reads what format_json wrote and gives back equal results. `name` (of the file) begins every message.
// Throws usage_error for another schema (checked first), a repeated, missing or wrong key, or sizes out of
// bounds. Unknown keys are ignored.
json_document parse_json(std::string_view text, const std::string& name);

}  // namespace mgsync
