#include "src/app/measure.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <iterator>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "mgsync/version.hpp"
#include "src/app/progress_line.hpp"
#include "src/app/report_files.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/launcher.hpp"
#include "src/base/standard_streams.hpp"
#include "src/harness/runner.hpp"
#include "src/report/text.hpp"
#include "src/results/pivot_table.hpp"
#include "src/results/result_file.hpp"
#include "src/results/selection.hpp"
#include "src/results/table.hpp"
#include "src/studies/barriers/barrier_points.hpp"
#include "src/studies/barriers/plan.hpp"
#include "topology/findings.hpp"

namespace mgsync {

namespace {

// Why not all of it is there: what the command that wrote it left undone.
std::string what_is_missing(const result_file& shown) {
  const auto count = [](std::size_t points, std::string_view verb) {
    return fmt::format("{} point{} {}", points, points == 1 ? "" : "s", verb);
  };
  const auto have = [](std::size_t points) { return points == 1 ? "has" : "have"; };
  const auto cut_short =
      static_cast<std::size_t>(std::ranges::count_if(shown.document.results, [](const result& r) {
        return r.status == result_status::interrupted || r.status == result_status::error;
      }));
  std::string text = fmt::format("not complete: its command ended early ({})", shown.document.ended);
  if (!shown.unfinished.empty())
    text += fmt::format("; {} samples but no result",
                        count(shown.unfinished.size(), have(shown.unfinished.size())));
  if (cut_short != 0) text += fmt::format("; {} fewer samples, or none", count(cut_short, have(cut_short)));
  return text + "\n";
}

// Why the GPUs of these ranks, if any, cannot be measured; empty: they can.
std::string why_no_gpus(const options& asked, std::span<const topology::rank_view> views) {
  std::size_t gpus = 0, visible = 0;
  for (const auto& v : views) {
    gpus += v.seen.gpus.size();
    visible += topology::visible_gpus(v.seen).size();
  }
  if (gpus == 0) return "no GPU is visible here";
  // Without CUDA the GPUs of a description can be planned for, not measured.
  const bool planned_only = asked.dry_run && !views.front().seen.is_this_machine;
  if (!with_cuda && !planned_only) return "this mgsync was built without CUDA";
  return visible == 0 ? "CUDA shows none of them" : "";
}

sweep_request request_from(const options& asked, std::span<const topology::rank_view> views) {
  sweep_request request;
  const auto why = why_no_gpus(asked, views);
  if (asked.device == "gpu" && !why.empty()) refuse_gpus(asked, why);
  request.device = asked.device != "host" && why.empty() ? topology::device::gpu : topology::device::host;
  const bool here = std::any_of(views.begin(), views.end(), [](const auto& v) {
    return !v.seen.gpus.empty() || !v.seen.unseen_gpus.empty();
  });
  if (asked.device != "host" && here) request.not_gpus = why;
  if (!asked.members.empty()) request.members = parse_members(asked.members);
  if (!asked.shapes.empty()) request.shapes = parse_shapes(asked.shapes);
  request.backends = parse_backends(asked.backends, backends());
  request.placements = asked.placements;
  request.loads = asked.loads;
  request.work = asked.work;
  request.late = asked.late;
  request.members_per_rank = asked.members_per_rank;
  request.pin = asked.pin && views.front().seen.is_this_machine;
  request.per_node = asked.per_node;
  request.oversubscribe = asked.oversubscribe;
  request.peer_memory = asked.peer_memory;
  request.mpi_threads = communicator::thread_level_in_force();
  request.with_cuda = with_cuda;
  return request;
}

barriers::settings settings_from(const options& asked, std::size_t points, std::uint64_t seed) {
  barriers::settings settings;
  settings.stopping.precision = asked.precision;
  settings.stopping.max_time = asked.max_time.value_or(barriers::default_max_time(points));
  settings.check_rounds = asked.check_rounds;
  settings.check = asked.check;
  settings.seed = seed;
  settings.timeout = asked.timeout;
  return settings;
}

std::string headline(const machine_record& m, std::uint64_t seed) {
  return fmt::format("mgsync {} on {}: {}, {} cores ({} hardware thread{} allowed), {} rank{}, seed {}\n",
                     m.mgsync, m.host, m.cpu_model.empty() ? "unknown CPU" : m.cpu_model, m.cores,
                     m.allowed_cpus.size(), m.allowed_cpus.size() == 1 ? "" : "s", m.ranks,
                     m.ranks == 1 ? "" : "s", seed);
}

int exit_of(const std::vector<result>& results, bool interrupted) {
  if (interrupted) return 128 + (signal_received() != 0 ? signal_received() : SIGTERM);
  return static_cast<int>(exit_code_of(results));
}

std::uint64_t seed_of(const options& asked, const communicator& job) {
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return std::stoull(
      job.broadcast(std::to_string(asked.seed.value_or(now % 1'000'000'007)), 0, "agreeing on the seed"));
}

}  // namespace

int measure(const options& asked, communicator& job, topology::machine mine, watchdog& dog,
            outputs& written) {
  if (!asked.topology_file.empty())
    throw usage_error(fmt::format("--topology {}: what is measured is the machine that mgsync runs on, and "
                                  "not one that a file describes; accepted: "
                                  "--dry-run, which plans for that one, mgsync list, mgsync topology",
                                  asked.topology_file));
  const auto started = job.broadcast(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), 0,
                                     "agreeing on the start");
  const auto views = gather_views(job, std::move(mine));
  const auto request = request_from(asked, views);
  const auto planned = make_plan(request, views);
  const auto seed = seed_of(asked, job);
  const bool speaks = job.rank() == 0;
  const auto points = barriers::points_to_measure(planned);
  const auto settings = settings_from(asked, points, seed);
  auto machine = record_machine(asked, job, views);
  machine.notes = planned.notes;
  options settled = asked;
  settled.max_time = settings.stopping.max_time;
  if (job.rank() == 1) written.stand_by(settled, machine, seed, started);
  if (speaks) {
    written.open(settled, machine, seed, started);
    say("{}", headline(machine, seed));
    for (const auto& note : planned.notes) say("note: {}\n", note);
    if (!asked.max_time && settings.stopping.max_time < barriers::default_max_time(1))
      say("note: {} points; each is sampled for {:.0f} ms at most (--max-time)\n", points,
          std::chrono::duration<double, std::milli>(settings.stopping.max_time).count());
  }
  std::vector<result> unfinished;
  for (const auto& c : planned.cells)
    for (const auto& p : c.points) {
      unfinished.emplace_back().point = p.point;
      unfinished.back().status = p.waived.empty() ? result_status::error : result_status::waived;
      unfinished.back().reason = p.waived;
    }
  const auto all = unfinished.size();
  written.plan(std::move(unfinished));
  job.barrier("starting to measure");
  progress_line line(speaks ? all : 0);
  runner_events events;
  events.running = [&](const point& p, std::string_view what) {
    written.measuring(p);
    line.running(p, what);
  };
  events.idle = [&] { written.idle(); };
  const time_spent* spent = nullptr;
  events.finished = [&](const result& r) {
    // By now: a document that is cut short says it too.
    if (spent != nullptr) written.note("time_spent", to_string(*spent));
    written.add(r);
    line.finished();
  };
  auto measurements = barriers::points_of(planned, settings, job, dog);
  know_facts(measurements, asked.less_order);
  runner measuring(job, dog,
                   {seed, settings.timeout, gpu_uuids(views[static_cast<std::size_t>(job.rank())].seen)},
                   written.store(), std::move(events));
  if (speaks) spent = &measuring.spent();
  auto results = measuring.run(measurements);
  line.clear();
  const int code = exit_of(results, measuring.interrupted());
  if (speaks) {
    const auto where = to_string(measuring.spent());
    auto remarks = fmt::format("mgsync: time spent {}\n", where);
    written.note("time_spent", where);
    for (const auto& r : results)
      if (r.status == result_status::failed) remarks += fmt::format("mgsync: {}\n", r.reason);
    written.replace(std::move(results));
    written.write(measuring.interrupted() ? "interrupted" : "complete", remarks);
  }
  return std::stoi(job.broadcast(std::to_string(code), 0, "agreeing on the exit code"));
}

int print_plan(const options& asked, communicator& job, topology::machine mine) {
  const auto views = gather_views(job, std::move(mine));
  const auto planned = make_plan(request_from(asked, views), views);
  if (job.rank() == 0) tell("{}", format_plan(planned, asked.listed()));
  return 0;
}

int show_results(const options& asked) {
  auto shown = read_result_file(asked.files.front());
  auto& document = shown.document;
  auto missing = shown.complete ? "" : what_is_missing(shown);
  for (const auto& sentence : shown.damage) say("mgsync: {}\n", sentence);
  if (!shown.damage.empty())
    missing += fmt::format(
        "damaged: lines of {} were skipped, and what they said is missing here: that a point failed, too\n",
        one_line(asked.files.front()));
  for (std::size_t i = 1; i < asked.files.size(); ++i) {
    auto more = read_result_file(asked.files[i]);
    for (const auto& sentence : more.damage) say("mgsync: {}\n", sentence);
    std::move(more.document.results.begin(), more.document.results.end(),
              std::back_inserter(document.results));
  }
  know_facts(document.results, asked.less_order);
  const auto code = static_cast<int>(!shown.damage.empty() && document.results.empty() ? exit_code::failure
                                                                                       : exit_code::success);
  if (!asked.where.empty()) document.results = selected(std::move(document.results), asked.where);
  if (!asked.by.empty()) {
    tell("{}", asked.by == "shape" ? table_by_shape(document.results) : table_by(document.results, asked.by));
    return code;
  }
  tell("{} ({}, {})\n{}{}{}", document.command, document.machine.host, document.started,
       format_table(document.results, asked.listed()), format_notes(document.machine), missing);
  // What a study says of its own results, as the command that measured them did.
  for (const auto& one : evaluate_all(document.results))
    if (one.of->name != point{}.study &&
        std::ranges::any_of(document.results, [&](const result& r) { return r.point.study == one.of->name; }))
      tell("\n{}", report::to_text(one.shown));
  return code;
}

int list_backends(const options& asked, communicator& job, topology::machine mine) {
  const auto views = gather_views(job, std::move(mine));
  options all = asked;
  all.backends = "all";
  auto request = request_from(all, views);
  for (const auto* b : backends())  // "all" leaves out what joins not all
    for (const auto& v : b->variants)
      if (!v.facts.joins_all()) request.backends.push_back({b, &v});
  if (request.members.empty())
    request.members = {std::max(1, topology::largest_group(views, request.device, asked.members_per_rank))};
  const auto planned = make_plan(request, views);
  if (job.rank() != 0) return 0;
  for (const auto& c : planned.cells) {
    tell("with {} {}:\n", c.group.members.size(),
         request.device == topology::device::gpu ? "GPUs" : "host members");
    for (const auto& p : c.points) {
      const auto& b = *p.choice.backend;
      const bool first = p.choice.variant == &b.variants.front();
      if (first) tell("{:<16} {}\n", b.name, b.summary);
      tell("  {:<30} {}{}\n", to_string(p.choice), p.waived.empty() ? "can run" : "waived: " + p.waived,
           first ? "  (default)" : "");
    }
  }
  return 0;
}

}  // namespace mgsync
