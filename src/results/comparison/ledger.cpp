#include "src/results/comparison/ledger.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"
#include "src/base/units.hpp"
#include "src/results/values/checksum.hpp"

namespace mgsync {
namespace {

std::string machine_of(const point& p, const machine_record& machine) {
  if (p.device == topology::device::host) return machine.cpu_model;
  const auto name = machine.gpus.empty() ? "unknown GPU" : machine.gpus.front().name;
  return fmt::format("{} x {}", p.members, name);
}

// The kernel's machine code, or else the sources that the program was built from.
std::string code_of(const json_document& document, const result& r) {
  if (const auto kernel = r.found("code"); !kernel.empty()) return "machine code " + kernel;
  const auto sources = document.settings.find("sources");
  return "sources " +
         (sources != document.settings.end() ? sources->second.substr(0, 16) : document.machine.mgsync);
}

}  // namespace

bool is_merged(const json_document& document) { return document.settings.contains("merged_1"); }

std::vector<ledger_entry> ledger_entries(const json_document& document) {
  std::vector<ledger_entry> all;
  if (is_merged(document)) return all;
  const auto run = hex(fnv1a_64(fmt::format("{} {} {}", document.started, document.seed, document.command)));
  for (const auto& r : document.results) {
    const auto& v = r.verdict;
    const bool counts = v.kind == verdict_kind::rounds && v.rounds > 0;
    if (!counts || (!v.control_flagged && v.violations == 0)) continue;
    all.push_back({code_of(document, r), subject_of(r.point), count_of_members(r.point),
                   format_shape(r.point), machine_of(r.point, document.machine),
                   run + "/" + short_key(r.point), v.rounds, v.violations});
  }
  return all;
}

bool is_ledger(std::string_view text) {
  return text.starts_with(fmt::format("{{\"schema\":\"{}\"", ledger_schema));
}

std::vector<ledger_entry> read_ledger(std::string_view text, const std::string& name) {
  std::vector<ledger_entry> all;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto place = fmt::format("{}, line {}", name, number);
    if (!is_ledger(line))
      throw usage_error(
          fmt::format("{}: no line of a ledger; accepted: what mgsync ledger --into writes", place));
    all.push_back(from_json<ledger_entry>(line, place));
  }
  return all;
}

std::string format_ledger(std::span<const ledger_entry> ledger) {
  std::string lines;
  for (const auto& e : ledger) lines += dumped(to_json(e)) + "\n";
  return lines;
}

std::size_t add_to_ledger(std::vector<ledger_entry>& ledger, std::span<const ledger_entry> more) {
  std::set<std::string> known;
  for (const auto& e : ledger) known.insert(e.run);
  const auto before = ledger.size();
  for (const auto& e : more)
    if (known.insert(e.run).second) ledger.push_back(e);
  return ledger.size() - before;
}

table ledger_table(std::span<const ledger_entry> ledger) {
  struct sum {
    std::uint64_t rounds = 0, violations = 0;
    std::set<std::string> shapes;
  };
  std::map<std::tuple<std::string, std::string, std::string, std::string>, sum> sums;
  for (const auto& e : ledger) {
    auto& s = sums[{e.subject, e.members, e.machine, e.code}];
    s.rounds += e.rounds;
    s.violations += e.violations;
    if (!e.shape.empty()) s.shapes.insert(e.shape);
  }
  table t{{"ledger", "Checked rounds, added up over runs",
           "A row for each code that was checked: the machine code of its kernel, by compute capability and "
           "hash, "
           "or the sources that it was built from. "
           "Violations per round are at most 3 divided by the rounds, with 95 % confidence, where none was "
           "found."},
          {"barrier", "members", "machine", "code", "shapes", "rounds | >", "violations | >",
           "at most, a round | .1e"}};
  for (const auto& [key, s] : sums) {
    const auto& [subject, members, machine, code] = key;
    t.add({subject, members, machine, code, fmt::format("{}", fmt::join(s.shapes, " ")), s.rounds,
           s.violations,
           s.violations == 0 ? std::optional(3.0 / static_cast<double>(s.rounds)) : std::nullopt});
  }
  return t;
}

}  // namespace mgsync
