#include "src/app/report_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/errors.hpp"
#include "src/base/hosts.hpp"
#include "src/base/standard_streams.hpp"
#include "src/results/files/anonymous.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/results/frame/frame.hpp"
#include "topology/description.hpp"
#include "topology/discovery.hpp"

namespace mgsync {
namespace {

std::string title_of(const machine_record& m) {
  const auto hosts = m.hosts.size() > 1 ? fmt::format(", {} hosts", m.hosts.size()) : "";
  if (m.gpus.empty())
    return fmt::format("{} cores of {}{}", m.cores, m.cpu_model.empty() ? "an unknown CPU" : m.cpu_model,
                       hosts);
  return fmt::format("{} x {}{}", m.gpus.size(), m.gpus.front().name, hosts);
}

// What tells machines of equal titles apart: the CPU, or that the files do not name it; where that is the
// same too, the number among them.
void tell_titles_apart(report_files& all) {
  const auto told_apart = [&](const auto& words_of) {
    std::map<std::string, int> times;
    for (const auto& one : all.machines) ++times[one.title];
    std::map<std::string, int> number;
    for (auto& one : all.machines)
      if (const auto title = one.title; times[title] > 1) one.title += words_of(one, ++number[title]);
  };
  told_apart([&](const reported_machine& one, int) {
    const auto& m = all.measured[one.files.front()].document.machine;
    if (m.gpus.empty()) return std::string();
    if (m.cpu_model.empty()) return std::string(", no CPU recorded");
    return fmt::format(", {} cores of {}", m.cores, m.cpu_model);
  });
  told_apart([](const reported_machine&, int number) { return fmt::format(" ({})", number); });
}

bool is_alike(const machine_record& a, const machine_record& b, across alike) {
  return static_cast<int>(likeness_of(a, b).level) <= static_cast<int>(alike);
}

// The machine in the report that is alike to this file's; a new one where there is none.
reported_machine& place_of(report_files& all, const machine_record& m, across alike) {
  for (auto& one : all.machines)
    if (is_alike(all.measured[one.files.front()].document.machine, m, alike)) return one;
  all.machines.emplace_back();
  all.machines.back().title = title_of(m);
  return all.machines.back();
}

// Adds the program and the machine to each result's environment, where the files are of several.
void name_origins(report_files& all, const reported_machine& of) {
  const auto record = [&](std::size_t file) -> const machine_record& {
    return all.measured[file].document.machine;
  };
  const auto& first = record(of.files.front());
  const bool programs =
      std::ranges::any_of(of.files, [&](auto file) { return record(file).mgsync != first.mgsync; });
  const bool machines = std::ranges::any_of(
      of.files, [&](auto file) { return likeness_of(first, record(file)).level == across::machines; });
  for (const auto file : of.files)
    for (auto& r : all.measured[file].document.results) {
      if (programs) r.environment.try_emplace("mgsync", record(file).mgsync);
      if (machines) r.environment.try_emplace("machine", title_of(record(file)));
    }
}

// Whether a later result takes the place of one that was measured: not where it has no number, nor, of one
// batch and so without an interval, that of one with several.
bool replaces(const result& later, const result& known) {
  if (later.status == result_status::failed) return true;
  return later.has_metrics() &&
         (!first_metric(later).of_one_batch() || !known.has_metrics() || first_metric(known).of_one_batch());
}

// Collects the results of the machine's files: of each point that of the latest file that tells it.
void take_results(report_files& all, reported_machine& of) {
  name_origins(all, of);
  auto by_time = of.files;
  std::stable_sort(by_time.begin(), by_time.end(), [&](auto a, auto b) {
    return all.measured[a].document.started < all.measured[b].document.started;
  });
  std::map<std::string, const result*> latest;  // by point
  for (const auto file : by_time)
    for (auto& r : all.measured[file].document.results) {
      r.file = file;
      const auto [known, fresh] = latest.try_emplace(canonical_text(r.point), &r);
      if (!fresh && replaces(r, *known->second)) known->second = &r;
    }
  std::map<std::string, std::size_t> counting;  // the file, by point
  for (const auto& [key, r] : latest) counting[key] = r->file;
  for (const auto file : of.files) {
    for (auto& r : all.measured[file].document.results) {
      const bool counts = counting[canonical_text(r.point)] == file;
      (counts ? of.results : of.earlier).push_back(std::move(r));
      (counts ? of.from : of.earlier_from).push_back(file);
    }
    all.measured[file].document.results.clear();
  }
}

bool shows_something(const evaluation& e) {
  return !e.sentences.empty() || !e.tables.empty() || !e.figures.empty();
}

}  // namespace

// Removes names of hosts, folders and UUIDs from a machine description, for --anonymous.
static void hide_names(topology::machine& described) {
  described.host = pseudonym_of(described.host);
  described.source = std::filesystem::path(described.source).filename().string();
  for (auto& gpu : described.gpus) gpu.uuid = pseudonym_of_gpu(gpu.uuid);
}

std::vector<acceptance> read_accepted(std::string_view text, const std::string& name, bool anonymous,
                                      std::vector<std::string>& damage) {
  auto all = read_acceptances(text, name, damage);
  if (anonymous)
    for (auto& one : all) make_anonymous(one);
  return all;
}

report_files read_report_files(const std::vector<std::string>& names, across alike, bool less_order,
                               bool anonymous) {
  report_files all;
  for (const auto& name : names) {
    const auto text =
        read_text(name, "files of --json or --store, machine descriptions, and lines of mgsync accept");
    if (is_acceptance(text)) {
      std::ranges::move(read_accepted(text, name, anonymous, all.damage), std::back_inserter(all.accepted));
      continue;
    }
    if (topology::is_description(text) || text.starts_with("<")) {
      topology::discovery_request request;
      request.file = name;
      all.drawn.push_back(topology::discover(request));
      if (anonymous) hide_names(all.drawn.back());
      continue;
    }
    all.measured.push_back(result_file_of(name, text));
    know_facts(studies(), all.measured.back().document.results, less_order);
    if (anonymous) make_anonymous(all.measured.back().document);
    const auto file = all.measured.size() - 1;
    place_of(all, all.measured.back().document.machine, alike).files.push_back(file);
  }
  for (auto& one : all.machines) take_results(all, one);
  const auto order = [&](const reported_machine& one) {
    const bool barriers = std::ranges::any_of(
        one.results, [](const result& r) { return r.point.study == default_study && r.has_metrics(); });
    return std::pair(!barriers,
                     -static_cast<int>(all.measured[one.files.front()].document.machine.gpus.size()));
  };
  std::ranges::stable_sort(all.machines, {}, order);
  tell_titles_apart(all);
  return all;
}

void say_damage(const report_files& all) {
  for (const auto& sentence : all.damage) say("mgsync: {}\n", sentence);
  for (const auto& file : all.measured)
    for (const auto& sentence : file.damage) say("mgsync: {}\n", sentence);
}

namespace {

// The key of a result's program and machine, where results of several were put together.
std::string origin_of(const result& r) {
  const auto machine = r.found("machine"), program = r.found("mgsync");
  return machine + (machine.empty() || program.empty() ? "" : ", ") +
         (program.empty() ? "" : "mgsync " + program);
}

using by_program = std::map<std::string, std::vector<result>>;  // by origin; no point twice

// For studies with of_one_program: the results by program. Of several results of a point by one program the
// last counts.
by_program results_by_program(std::span<const result> results, std::span<const result> earlier) {
  std::map<std::string, std::map<std::string, const result*>> last;
  for (const auto& several : {earlier, results})
    for (const auto& r : several) {
      const auto of = std::ranges::find(studies(), r.point.study, &study::name);
      if (of != studies().end() && (*of)->of_one_program && r.has_metrics())
        last[origin_of(r)][canonical_text(r.point)] = &r;
    }
  by_program found;
  for (const auto& [origin, points] : last)
    for (const auto& [key, r] : points) found[origin].push_back(*r);
  return found;
}

// The study's evaluations for each program, with the program's name.
shown_study shown_apart(const study& one, const by_program& several) {
  shown_study all{&one, {}};
  for (const auto& program : several) {
    const auto& origin = program.first;
    auto part = shown_of(one, [&] { return one.evaluate(program.second); });
    for (auto& sentence : part.shown.sentences)
      all.shown.sentences.push_back(sentence + (origin.empty() ? "" : fmt::format(" Of {}.", origin)));
    for (auto& t : part.shown.tables) t.heading.title += origin.empty() ? "" : fmt::format(" ({})", origin);
    // The program's name goes into the caption, as a title must fit the picture's width.
    for (auto& f : part.shown.figures)
      std::visit(
          [&](auto& drawn) { drawn.heading.caption += origin.empty() ? "" : fmt::format(" Of {}.", origin); },
          f);
    std::ranges::move(part.shown.tables, std::back_inserter(all.shown.tables));
    std::ranges::move(part.shown.figures, std::back_inserter(all.shown.figures));
    if (!part.failed.empty()) all.failed = part.failed;
  }
  return all;
}

}  // namespace

std::vector<shown_study> evaluate_all(std::span<const result> results, std::span<const result> earlier) {
  std::vector<shown_study> all;
  const auto programs = results_by_program(results, earlier);
  for (const auto* s : studies()) {
    if (s->evaluate == nullptr) continue;
    auto one = s->of_one_program && programs.size() > 1 ? shown_apart(*s, programs)
                                                        : shown_of(*s, [&] { return s->evaluate(results); });
    if (shows_something(one.shown)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace mgsync
