#include <algorithm>
#include <filesystem>
#include <iterator>

#include "src/app/commands.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/results/comparison/ledger.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/results/files/result_file.hpp"

namespace mgsync {
namespace {

constexpr std::string_view accepted = "results (--json or --store), ledgers (--into)";

std::vector<ledger_entry> entries_of(const std::string& name) {
  const auto text = read_text(name, accepted);
  if (is_ledger(text)) return read_ledger(text, name);
  const auto document = result_file_of(name, text).document;
  if (is_merged(document))
    say("mgsync: {} was merged from other files; its rounds are counted from those, so name those files\n",
        name);
  return ledger_entries(document);
}

}  // namespace

int ledger_command(const options& asked) {
  std::vector<ledger_entry> ledger;
  if (std::error_code absent; !asked.into.empty() && std::filesystem::exists(asked.into, absent))
    ledger = read_ledger(read_text(asked.into, "a ledger"), asked.into);
  std::vector<ledger_entry> more;
  for (const auto& name : asked.files) std::ranges::move(entries_of(name), std::back_inserter(more));
  const auto added = add_to_ledger(ledger, more);
  if (!asked.into.empty()) {
    write_file_atomically(asked.into, format_ledger(ledger));
    say("mgsync: {} of {} in {} are new\n", added, counted(ledger.size(), "line"), asked.into);
  }
  const auto totals = ledger_table(ledger);
  if (asked.markdown.empty()) tell("{}", ledger.empty() ? "" : to_text(totals));
  else if (asked.markdown == "-") tell("{}", to_markdown(totals));
  else write_file_atomically(asked.markdown, to_markdown(totals));
  if (!more.empty()) return 0;
  say("mgsync: nothing was counted: none of these files has checked rounds of its own; accepted: {}\n",
      accepted);
  return static_cast<int>(exit_code::all_waived);
}

}  // namespace mgsync
