// `mgsync report` of acceptances: thousands of nodes, held against one another, on one page.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "mgsync/version.hpp"
#include "src/app/commands.hpp"
#include "src/app/report_files.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/report/fleet_map.hpp"
#include "src/report/page.hpp"
#include "src/results/comparison/fleet.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/packed_text.hpp"

namespace mgsync {
namespace {

// A pipe could be read once only, so it holds results.
bool begins_as_acceptance(const std::string& name) {
  if (!std::filesystem::is_regular_file(name)) return false;
  std::string beginning(1 << 20, '\0');  // the schema may be the last key of the first of them
  std::ifstream file(name);
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  return is_acceptance(beginning);
}

std::string text_of(const fleet_findings& found) {
  std::string text;
  for (const auto& sentence : found.shown.sentences) text += sentence + "\n";
  for (const auto& t : found.shown.tables) text += "\n" + to_text(t);
  return text;
}

report::page page_of(const fleet_findings& found, const fleet& all, std::size_t files) {
  report::page p;
  p.title = fmt::format("{} of a fleet", counted(found.cells.size(), "node"));
  p.subtitle = fmt::format("{} in {}", counted(all.runs().size(), "acceptance"), counted(files, "file"));
  p.written = fmt::format("mgsync {}", version_with_commit);
  p.verdict = {"verdict", "", {}, {}, ""};
  p.verdict.shown.sentences = found.shown.sentences;
  p.verdict.shown.tables = found.shown.tables;
  report::page_section trends{"trend", "Over the days", {}, {}, ""};
  trends.shown.figures = found.shown.figures;
  p.sections.push_back(std::move(trends));
  p.drawings_title = "Map of the fleet";
  p.drawings.push_back(
      {"A square for each node, by name", report::fleet_map(found.cells),
       "green as the fleet's median, yellow from 2 %, orange from 4 %, red from 10 % slower, blue 3 % "
       "faster; violet: wrong before measuring, black: a barrier failed; an edge: an outlier, or not "
       "normal"});
  return p;
}

}  // namespace

bool are_acceptances(const std::vector<std::string>& names) {
  return !names.empty() && std::ranges::all_of(names, begins_as_acceptance);
}

int fleet_command(const options& asked) {
  if (!asked.markdown.empty())
    throw usage_error(
        "--markdown: a fleet is reported as text, or as a page by --html; accepted: one of these");
  fleet all;
  std::vector<std::string> damage;
  for (const auto& name : asked.files)
    for (const auto& one :
         read_accepted(read_text(name, "lines of mgsync accept --line"), name, asked.anonymous, damage))
      all.add(one);
  for (const auto& sentence : damage) say("mgsync: {}\n", sentence);
  const auto found = evaluate(all);
  if (asked.html.empty()) tell("{}", text_of(found));
  else if (asked.html == "-") tell("{}", report::to_html(page_of(found, all, asked.files.size())));
  else {
    write_file_atomically(asked.html, report::to_html(page_of(found, all, asked.files.size())));
    say("mgsync: the report is in {}\n", asked.html);
  }
  return 0;
}

}  // namespace mgsync
