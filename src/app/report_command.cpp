#include "src/app/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/app/recording_page.hpp"
#include "src/app/report_folder.hpp"
#include "src/app/report_page.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/harness/outputs.hpp"
#include "src/report/text.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/packed_text.hpp"

namespace mgsync {
namespace {

std::string text_of(const report::page& p) {
  std::string text = fmt::format("{}\n{}\n", p.title, p.subtitle);
  for (const auto& f : p.files)
    if (!f.remarks.empty()) text += fmt::format("{}: {}\n", f.name, fmt::join(f.remarks, "; "));
  text += "\n";
  for (const auto& sentence : p.verdict.shown.sentences) text += sentence + "\n";
  for (const auto& t : p.verdict.shown.tables) text += "\n" + to_text(t);
  for (const auto& s : p.sections) {
    if (s.shown.sentences.empty() && s.shown.tables.empty() && s.shown.figures.empty()) continue;
    text += fmt::format("\n== {}\n", s.title);
    for (const auto& sentence : s.shown.sentences) text += sentence + "\n";
    for (const auto& t : s.shown.tables) text += "\n" + to_text(t);
    for (const auto& f : s.shown.figures)
      text += fmt::format("figure {}: {}\n", heading_of(f).name, heading_of(f).title);
  }
  return text + "\nFigures: mgsync show FILE... --figure NAME --svg FILE; all on one page: mgsync report "
                "FILE... --html FILE\n";
}

// The same in Markdown, with the commands that draw the figures in place of the figures.
std::string markdown_of(const report::page& p) {
  std::string text = fmt::format("# {}\n\n{}.\n", markdown_words(p.title), markdown_words(p.subtitle));
  const auto add = [&](const evaluation& shown) {
    for (const auto& sentence : shown.sentences) text += fmt::format("\n{}\n", markdown_words(sentence));
    for (const auto& t : shown.tables)
      if (!t.rows.empty())
        text += fmt::format(
            "\n### {}\n\n{}{}", markdown_words(t.heading.title), to_markdown(t),
            t.heading.caption.empty() ? "" : fmt::format("\n{}\n", markdown_words(t.heading.caption)));
  };
  add(p.verdict.shown);
  for (const auto& s : p.sections) {
    if (s.shown.sentences.empty() && s.shown.tables.empty()) continue;
    text += fmt::format("\n## {}\n", markdown_words(s.title));
    add(s.shown);
  }
  if (const auto papers = report::papers_in(text); !papers.empty()) {
    text += "\n## Papers\n\n";
    for (const auto& one : papers) text += fmt::format("- {}\n", markdown_words(one));
  }
  text += "\n## From\n";
  for (const auto& f : p.files) {
    text += fmt::format("\n- {}", markdown_words(f.name));
    if (!f.commands.empty()) text += fmt::format(", of mgsync {}:", markdown_words(f.machine.mgsync));
    for (const auto& command : f.commands)
      text += fmt::format("{} {}", &command == &f.commands.front() ? "" : ",", markdown_code(command));
    text += f.remarks.empty()
                ? "\n"
                : fmt::format("; {}\n", markdown_words(fmt::format("{}", fmt::join(f.remarks, "; "))));
  }
  return text;
}

void write(const std::string& where, const std::string& text) {
  if (where.empty() || where == "-") fmt::print("{}", text);
  else write_file_atomically(where, text);
}

int say_failures(const std::vector<std::string>& failed) {
  for (const auto& sentence : failed) say("mgsync: {}\n", sentence);
  return static_cast<int>(failed.empty() ? exit_code::success : exit_code::failure);
}

}  // namespace

// A recording alone: as a page, or its sentences and tables.
int report_recording(const options& asked) {
  const auto& name = asked.files.front();
  if (!asked.markdown.empty())
    throw usage_error(fmt::format("--markdown: {} is a recording; accepted: --html", name));
  const auto p = page_of(recording_from_json(read_text(name, "a recording"), name), name);
  if (asked.html.empty()) tell("{}", text_of(p));
  else write(asked.html, report::to_html(p));
  return static_cast<int>(exit_code::success);
}

int report_command(const options& whole) {
  // A folder is made when its pages are written; what is to be a file must be one that can be written.
  auto asked = whole;
  const bool to_folder = is_folder(whole.html);
  if (to_folder) asked.html.clear();
  prepare_files(asked, asked.files);
  if (are_acceptances(asked.files)) {
    if (to_folder)
      throw usage_error(
          fmt::format("--html {}: a fleet is one page; accepted: the name of a file", whole.html));
    return fleet_command(asked);
  }
  if (asked.files.size() == 1 && is_recording_file(asked.files.front())) {
    if (to_folder)
      throw usage_error(
          fmt::format("--html {}: a recording is one page; accepted: the name of a file", whole.html));
    return report_recording(asked);
  }
  auto all =
      read_report_files(asked.files, asked.across.value_or(across::hosts), asked.less_order, asked.anonymous);
  say_damage(all);
  std::vector<std::string> failed;
  if (to_folder) {
    if (!asked.markdown.empty()) throw usage_error("--html FOLDER/ and --markdown; accepted: one of these");

    say("mgsync: the reports begin in {}\n", write_folder(whole, std::move(all), failed));
    return say_failures(failed);
  }
  auto p = page_of(asked, all, failed);
  if (!asked.markdown.empty()) write(asked.markdown, markdown_of(p));
  if (!asked.html.empty()) {
    report::fold(p);
    const auto left = report::fit(p);
    if (!left.empty())
      say("mgsync: left out, as one page would be too large: figures, long tables and rows of {}; --html "
          "FOLDER/ has a page for each\n",
          fmt::join(left, ", "));
    write(asked.html, report::to_html(p));
  }
  if (asked.html.empty() && asked.markdown.empty()) tell("{}", text_of(p));
  if (!asked.html.empty() && asked.html != "-") say("mgsync: the report is in {}\n", asked.html);
  return say_failures(failed);
}

}  // namespace mgsync
