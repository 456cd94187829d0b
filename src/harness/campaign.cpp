#include "src/harness/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/harness/plan_text.hpp"
#include "src/harness/progress_line.hpp"
#include "src/harness/runner.hpp"
#include "topology/findings.hpp"

namespace mgsync {
namespace {

struct campaign_plan {
  std::vector<measurement> points;
  std::vector<std::string> notes;  // about the machines and the request
};

campaign_plan make_plan(const campaign_request& asked, std::span<const topology::rank_view> ranks,
                        const session* where = nullptr) {
  campaign_plan plan{{}, machine_notes(asked, ranks)};
  std::set<std::string> known;  // two typed words may mean the same point
  auto one = asked;
  const auto sweeps = asked.sweeps.empty() ? std::vector{asked.axes} : asked.sweeps;
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    one.axes = sweeps[i];
    for (const auto* s : asked.studies)
      for (auto& m : s->points(request_for(*s, one, ranks, where, &plan.notes)))
        if (known.insert(canonical_text(m.point)).second) {
          if (sweeps.size() > 1) m.cell = fmt::format("{} of sweep {}", m.cell, i);
          plan.points.push_back(std::move(m));
        }
  }
  std::set<std::string> told;
  std::erase_if(plan.notes, [&](const std::string& note) { return !told.insert(note).second; });
  know_facts(asked.studies, plan.points, asked.less_order);
  if (plan.points.empty())
    throw usage_error(fmt::format("these words together leave nothing to measure; accepted: what `mgsync "
                                  "study {} --help` lists, in other combinations",
                                  asked.studies.front()->name));
  return plan;
}

// The settings that determine the results, with the values in use: all of them where points differ.
std::map<std::string, std::string> settings_used(const campaign_request& asked, const campaign_plan& plan) {
  std::map<std::string, std::string> used;
  std::set<double> precisions, times;
  for (const auto& m : plan.points)
    if (const auto rule = m.waived.empty() ? m.method()->stops() : std::nullopt) {
      precisions.insert(rule->precision);
      times.insert(std::chrono::duration<double>(rule->max_time).count());
    }
  const bool some = std::ranges::any_of(plan.points, [](const auto& m) { return m.waived.empty(); });
  for (const auto& [option, values] : {std::pair{"precision", asked.settings.precision.has_value()},
                                       std::pair{"max-time", asked.settings.max_time.has_value()}})
    if (values && some && times.empty())
      throw usage_error(fmt::format("--{}: each of these points takes a number of batches that is known "
                                    "beforehand; accepted: the same without --{}",
                                    option, option));
  if (!times.empty()) {
    used["precision"] = fmt::format("{}", fmt::join(precisions, ", "));
    used["max_time_s"] = fmt::format("{}", fmt::join(times, ", "));
  }
  if (std::ranges::any_of(asked.studies,
                          [](const auto* s) { return why_refused(*s, "check-rounds").empty(); }))
    used["check_rounds"] = std::to_string(asked.settings.check_rounds);
  used["timeout_s"] = fmt::format("{}", std::chrono::duration<double>(asked.settings.timeout).count());
  // Environment variables that control the run-time libraries affect results too. Which GPUs are visible is
  // part of the machine's record.
  for (const auto& [name, value] : asked.surroundings)
    if (name.starts_with("environment ") && name != "environment CUDA_VISIBLE_DEVICES") used[name] = value;
  return used;
}

// What results depend on: the machine, its GPUs, and the libraries in use.
std::string headline(const store_header& about, const std::map<std::string, std::string>& surroundings) {
  const auto& m = about.machine;
  auto text =
      fmt::format("mgsync {} on {}: {}, {} ({} allowed), {}, seed {}\n", m.mgsync, m.host,
                  m.cpu_model.empty() ? "unknown CPU" : m.cpu_model, counted(m.cores, "core"),
                  counted(m.allowed_cpus.size(), "hardware thread"), counted(m.ranks, "rank"), about.seed);
  std::map<std::string, std::size_t> gpus;
  for (const auto& gpu : m.gpus) {
    // CUDA tells neither of a GPU that it does not show.
    std::vector<std::string> known;
    if (gpu.sm_count) known.push_back(fmt::format("{} SMs", *gpu.sm_count));
    if (gpu.sm_clock_mhz) known.push_back(fmt::format("{} MHz", *gpu.sm_clock_mhz));
    ++gpus[known.empty() ? gpu.name : fmt::format("{} ({})", gpu.name, fmt::join(known, ", "))];
  }
  std::vector<std::string> words;
  for (const auto& [kind, count] : gpus) words.push_back(fmt::format("{} x {}", count, kind));
  if (!gpus.empty())
    for (const auto& [name, key] :
         {std::pair{"driver", "driver"}, std::pair{"CUDA", "CUDA run time"}, std::pair{"NCCL", "NCCL"}})
      if (const auto known = surroundings.find(key); known != surroundings.end())
        words.push_back(fmt::format("{} {}", name, known->second));
  if (m.mpi != "none" && (m.ranks > 1 || !words.empty())) words.push_back(m.mpi);
  return words.empty() ? text : text + fmt::format("{}\n", fmt::join(words, ", "));
}

std::uint64_t agreed_seed(const campaign_request& asked, const communicator& job) {
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return job.broadcast_value(asked.seed.value_or(now % 1'000'000'007), 0, "agreeing on the seed");
}

// The results to write for points that were not reached: waived ones as such, the others as errors.
std::vector<result> unfinished(const campaign_plan& plan) {
  std::vector<result> all;
  for (const auto& m : plan.points) {
    auto& one = all.emplace_back();
    one.point = m.point;
    one.status = m.waived.empty() ? result_status::error : result_status::waived;
    one.reason = m.waived;
  }
  return all;
}

// Attaches the picture of a timeline to the result that it shows, and adds the other attachments of that
// result to the files of figures.
void attach_timelines(const study& s, std::vector<result>& results, named_files& files) {
  for (auto& r : results) {
    if (r.attachments.empty() || r.point.study != s.name) continue;
    const auto alone = shown_of(s, [&] { return s.evaluate(std::span(&r, 1)); });
    for (const auto& mine : alone.shown.figures) {
      const auto& name = heading_of(mine).name;
      const auto picture = files.find(name + ".svg");
      if (!std::holds_alternative<timeline>(mine) || picture == files.end()) continue;
      for (const auto& kept : r.attachments) files[fmt::format("{}.{}", name, kept.name)] = kept.content;
      r.attachments.push_back({"timeline.svg", "image/svg+xml", picture->second});
      break;
    }
  }
}

// A line for each point that failed or had an error.
std::string failures(std::span<const result> results) {
  std::string text;
  for (const auto& r : results)
    if (r.status == result_status::failed || r.status == result_status::error)
      text += r.reason.find(subject_of(r.point)) != std::string::npos
                  ? fmt::format("mgsync: {}\n", r.reason)
                  : fmt::format("mgsync: {}: {}\n", name_of(r.point), r.reason);
  return text;
}

// Called on rank 0. The documents are written before the figures, which can be drawn again from them. After
// an interruption nothing is evaluated, so that the command ends soon. False: an evaluation failed.
bool report_on(const campaign_request& asked, const runner& measured, std::vector<result> results,
               outputs& written) {
  const auto spent = to_string(measured.spent());
  const auto remarks = fmt::format("mgsync: time spent {}\n{}", spent, failures(results));
  const auto shown =
      measured.interrupted() ? presented_results{} : present(asked.studies, results, asked.shown);
  written.note("time_spent", spent);
  written.replace(std::move(results));
  written.write(measured.interrupted() ? "interrupted" : "complete", remarks);
  write_figures(asked.out, shown.files);
  if (!shown.text.empty()) print_table(asked.out, "\n" + shown.text);
  return shown.whole;
}

}  // namespace

std::vector<std::string> machine_notes(const campaign_request& asked,
                                       std::span<const topology::rank_view> ranks) {
  std::vector<std::string> notes;
  if (!asked.not_gpus.empty())
    notes.push_back(fmt::format("There are GPUs here, and host members are measured: {}.", asked.not_gpus));
  std::set<std::string_view> wanted{"hidden-gpus", "gpus-per-task", "lost-gpus", "cpu-quota",
                                    "part-of-machine"};
  if (asked.device == topology::device::gpu) wanted.insert("wrong-node");
  for (const auto& found : topology::find_problems(ranks, asked.settings.members_per_rank))
    if (wanted.contains(found.name)) notes.push_back(fmt::format("{} Change: {}.", found.what, found.change));
  return notes;
}

study_request request_for(const study& s, const campaign_request& asked,
                          std::span<const topology::rank_view> ranks, const session* where,
                          std::vector<std::string>* notes) {
  study_request request;
  request.ranks = ranks;
  request.device = asked.device;
  request.with_cuda = asked.with_cuda;
  request.planning = asked.planning;
  request.planned = asked.out.listed();
  request.settings = asked.settings;
  request.seed = asked.seed.value_or(1);
  request.where = where;
  request.notes = notes;
  request.settle(s.axes, asked.axes);
  return request;
}

std::vector<point_here> planned_points(const campaign_request& asked,
                                       std::span<const topology::rank_view> ranks) {
  std::vector<point_here> all;
  for (auto& m : make_plan(asked, ranks).points) all.push_back({std::move(m.point), std::move(m.waived)});
  return all;
}

std::string plan_text(const campaign_request& asked, std::span<const topology::rank_view> ranks) {
  const auto plan = make_plan(asked, ranks);
  settings_used(asked, plan);
  std::string text = format_plan(plan.points, asked.out.listed());
  for (const auto& note : plan.notes) text += fmt::format("note: {}\n", note);
  return text + estimate(asked.studies, plan.points);
}

presented_results present(std::span<const study* const> studies, std::vector<result>& results,
                          const presentation& how) {
  presented_results all;
  evaluation everything;
  for (const auto* s : studies) {
    if (s->evaluate == nullptr) continue;
    const auto one = shown_of(*s, [&] {
      auto made = s->evaluate(results);
      // A picture that cannot be drawn does not prevent the others.
      for (const auto& each : made.figures) try {
          all.files[heading_of(each).name + ".svg"] = how.svg(each, made.figures);
        } catch (const std::invalid_argument& error) {
          say("mgsync: the figure {} cannot be drawn: {}\n", heading_of(each).name, error.what());
        }
      return made;
    });
    all.whole = all.whole && one.failed.empty();
    attach_timelines(*s, results, all.files);
    const auto& e = one.shown;
    everything.tables.insert(everything.tables.end(), e.tables.begin(), e.tables.end());
    everything.sentences.insert(everything.sentences.end(), e.sentences.begin(), e.sentences.end());
    everything.figures.insert(everything.figures.end(), e.figures.begin(), e.figures.end());
  }
  all.text = how.text(everything);
  return all;
}

int measure(const campaign_request& typed, communicator& job, std::span<const topology::rank_view> ranks,
            watchdog& dog, outputs& written) {
  auto asked = typed;
  asked.seed = agreed_seed(typed, job);
  const bool speaks = job.rank() == 0;
  const session where(job, job, dog, asked.settings.timeout);
  const auto plan = make_plan(asked, ranks, &where);
  store_header about{asked.machine, asked.out.typed, *asked.seed,
                     job.broadcast(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), 0,
                                   "agreeing on the start"),
                     settings_used(asked, plan)};
  about.machine.notes = plan.notes;
  if (job.rank() == 1) written.stand_by(asked.out, about, asked.surroundings);
  if (speaks) {
    written.open(asked.out, about, asked.surroundings);
    say("{}", headline(about, asked.surroundings));
    for (const auto& note : plan.notes) say("note: {}\n", note);
    say("{}", estimate(asked.studies, plan.points));
  }
  written.plan(unfinished(plan));
  job.barrier("starting to measure");
  const auto to_measure = std::ranges::count_if(plan.points, [](const auto& m) { return m.waived.empty(); });
  progress_line line(speaks ? static_cast<std::size_t>(to_measure) : 0,
                     std::chrono::duration<double>(estimated_seconds(asked.studies, plan.points)));
  runner_events events;
  events.running = [&](const point& p, std::string_view what) {
    written.measuring(p);
    line.running(p, what);
  };
  events.idle = [&] { written.idle(); };
  const time_spent* spent = nullptr;
  events.finished = [&](const result& r) {
    // Noted after every point, so that the document of an early end has it too.
    if (spent != nullptr) written.note("time_spent", to_string(*spent));
    written.add(r);
    if (r.status != result_status::waived) line.finished();
  };
  std::map<int, std::string> gpus;
  for (const auto& gpu : ranks[static_cast<std::size_t>(job.rank())].seen.gpus)
    if (!gpu.uuid.empty()) gpus[gpu.id] = gpu.uuid;
  runner measuring(job, dog, {*asked.seed, asked.settings.timeout, gpus}, written.store(), std::move(events));
  if (speaks) spent = &measuring.spent();
  auto results = measuring.run(plan.points);
  line.clear();
  auto code = static_cast<int>(exit_code_of(results));
  if (measuring.interrupted()) code = 128 + (signal_received() != 0 ? signal_received() : SIGTERM);
  if (speaks && !report_on(asked, measuring, std::move(results), written) && code == 0)
    code = static_cast<int>(exit_code::failure);
  return job.broadcast_value(code, 0, "agreeing on the exit code");
}

}  // namespace mgsync
