#include "src/app/report_folder.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mgsync/version.hpp"
#include "src/app/reference_files.hpp"
#include "src/app/report_page.hpp"
#include "src/base/errors.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/results/files/atomic_file.hpp"
#include "topology/reports/drawing.hpp"
#include "topology/reports/reports.hpp"

namespace mgsync {
namespace {

namespace fs = std::filesystem;

// "4-x-nvidia-h200.html"; a second one of this name has a number.
std::string file_for(const std::string& title, std::set<std::string>& taken) {
  std::string name;
  for (const char c : title)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-') name += '-';
  while (!name.empty() && name.back() == '-') name.pop_back();
  if (name.empty()) name = "machine";
  auto file = name + ".html";
  for (int i = 2; !taken.insert(file).second; ++i) file = fmt::format("{}-{}.html", name, i);
  return file;
}

// The description of a machine goes to the page of the first machine with as many of the same GPUs.
bool is_of(const topology::machine& drawn, const machine_record& measured) {
  return drawn.gpus.size() == measured.gpus.size() &&
         (drawn.gpus.empty() || drawn.gpus.front().name == measured.gpus.front().name);
}

// Moves those that are wanted to the other list.
template <class T, class Is>
void take(std::vector<T>& all, std::vector<T>& taken, Is is_wanted) {
  const auto wanted =
      std::stable_partition(all.begin(), all.end(), [&](const T& one) { return !is_wanted(one); });
  std::move(wanted, all.end(), std::back_inserter(taken));
  all.erase(wanted, all.end());
}

// One machine with its files alone, numbered anew, and the descriptions and acceptances that are of it.
report_files alone(report_files& all, reported_machine& machine) {
  report_files one;
  for (const auto file : machine.files) one.measured.push_back(all.measured[file]);
  const auto renumber = [&](std::vector<std::size_t>& some) {
    for (auto& file : some)
      file = static_cast<std::size_t>(std::ranges::find(machine.files, file) - machine.files.begin());
  };
  renumber(machine.from);
  renumber(machine.earlier_from);
  const auto& measured = one.measured.front().document.machine;
  const auto kind = kind_of(measured);
  take(all.drawn, one.drawn, [&](const auto& drawn) { return is_of(drawn, measured); });
  take(all.accepted, one.accepted, [&](const auto& accepted) { return accepted.kind == kind; });
  renumber(machine.files);
  one.machines.push_back(std::move(machine));
  return one;
}

report::page_link link_to(const report::page& p, std::string file, std::string title) {
  const auto& first = p.verdict.shown.sentences.empty() && !p.sections.empty()
                          ? p.sections.front().shown.sentences
                          : p.verdict.shown.sentences;
  const auto count = static_cast<std::size_t>(std::ranges::count_if(
      p.rows, [](const auto& row) { return !row.earlier && row.of->status == result_status::measured; }));
  return {std::move(file), std::move(title),
          p.files.empty()
              ? ""
              : fmt::format("{}, {} measured", counted(p.files.size(), "file"), counted(count, "point")),
          first.empty() ? "" : first.front()};
}

// Writes a machine's page, or, where it would be large, a page for each of its sections.
std::vector<report::page_link> write_pages(const fs::path& folder, report::page whole,
                                           const std::string& title, std::set<std::string>& taken) {
  auto parts = std::vector{std::move(whole)};
  if (report::to_html(parts.front()).size() > report::most_bytes && parts.front().sections.size() > 1)
    parts = report::by_section(parts.front());
  std::vector<report::page_link> links;
  for (const auto& part : parts) {
    const bool several = parts.size() > 1 && !part.sections.empty();
    const auto named = several ? fmt::format("{}: {}", title, part.sections.front().title) : title;
    links.push_back(link_to(part, file_for(named, taken), named));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts.size() > 1) parts[i].beside = links;
    report::fold(parts[i]);
    report::fit(parts[i]);
    write_file_atomically((folder / links[i].file).string(), report::to_html(parts[i]));
  }
  return links;
}

}  // namespace

bool is_folder(const std::string& name) { return name.ends_with('/') || fs::is_directory(name); }

std::string write_folder(const options& asked, report_files all, std::vector<std::string>& failed) {
  const fs::path folder(asked.html);
  std::error_code why;
  if (fs::create_directories(folder, why); why)
    throw usage_error(fmt::format("--html {}: no folder can be created there ({}); name another folder",
                                  asked.html, why.message()));
  report::page index;
  index.title = counted(all.machines.size(), "machine") + ", measured by mgsync";
  index.subtitle = fmt::format("{} in all; a page for each machine", counted(asked.files.size(), "file"));
  index.written = fmt::format("mgsync {}", version_with_commit);
  index.verdict = {"verdict", "", {}, {}, ""};
  std::set<std::string> taken{"index.html"};
  for (auto& machine : all.machines) {
    const auto files = alone(all, machine);
    auto only = asked;
    only.files.clear();
    for (const auto& f : files.measured) only.files.push_back(f.name);
    auto p = page_of(only, files, failed);
    p.index = "index.html";
    const auto links = write_pages(folder, std::move(p), files.machines.front().title, taken);
    index.pages.insert(index.pages.end(), links.begin(), links.end());
  }
  if (!all.accepted.empty())
    say("mgsync: {} of no machine among these results, and on no page; mgsync report of their files alone "
        "shows them\n",
        all.accepted.size() == 1 ? "1 acceptance is"
                                 : fmt::format("{} acceptances are", all.accepted.size()));
  if (!all.drawn.empty()) index.style_of_drawings = topology::style_of_pictures(".drawing ");
  for (const auto& drawn : all.drawn)
    index.drawings.push_back(
        {topology::machine_title(drawn), topology::write_svg(drawn, false), "from " + drawn.source});
  const auto name = (folder / "index.html").string();
  write_file_atomically(name, report::to_html(index));
  return name;
}

}  // namespace mgsync
