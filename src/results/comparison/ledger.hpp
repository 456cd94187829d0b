// A ledger of checked rounds, so that the rounds of many runs add up: for each barrier's code how many rounds
// were checked, where, and what violations were found.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/files/json_document.hpp"
#include "src/results/frame/table.hpp"

namespace mgsync {

inline constexpr std::string_view ledger_schema = "mgsync-ledger/1";

// The checked rounds of one point in one run.
struct ledger_entry {
  std::string code;     // what was checked: a kernel's machine code, or the sources that it was built from
  std::string subject;  // "multigrid:inbox"
  std::string members;  // "4 GPUs"
  std::string shape;    // "1x32"; may be empty
  std::string machine;  // "4 x NVIDIA H200"; of host members the processor
  std::string run;      // hashes of what was run and of the point: no run is counted twice
  std::uint64_t rounds = 0;
  std::uint64_t violations = 0;
  bool operator==(const ledger_entry&) const = default;
};
void fields(auto& way, ledger_entry& e) {
  std::string schema(ledger_schema);
  way.needs("schema", schema);
  way.needs("code", e.code);
  way.needs("subject", e.subject);
  way.needs("members", e.members);
  way.may("shape", e.shape);
  way.needs("machine", e.machine);
  way.needs("run", e.run);
  way.needs("rounds", e.rounds);
  way.may("violations", e.violations);
}

// Made of several by mgsync merge.
bool is_merged(const json_document&);
// What a document's checks are worth to a ledger. A check that did not catch its positive control counts only
// if it found violations. Nothing of a merged document, whose runs count by themselves.
std::vector<ledger_entry> ledger_entries(const json_document&);

bool is_ledger(std::string_view text);
// Lines of JSON, in the order of the file. `name` begins every message. Throws usage_error for other text.
std::vector<ledger_entry> read_ledger(std::string_view text, const std::string& name);
std::string format_ledger(std::span<const ledger_entry>);

// Appends those whose run the ledger does not have yet; returns how many.
std::size_t add_to_ledger(std::vector<ledger_entry>& ledger, std::span<const ledger_entry> more);

// A row for each code, subject and machine: rounds, shapes, violations, and what violations per round are at
// most with 95 % confidence.
table ledger_table(std::span<const ledger_entry>);

}  // namespace mgsync
