// `mgsync accept`: looks at the node, measures what tells most of it, and says whether it is normal.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mgsync/version.hpp"
#include "src/app/commands.hpp"
#include "src/app/listed_points.hpp"
#include "src/app/processes_command.hpp"
#include "src/app/reference_files.hpp"
#include "src/app/study_command.hpp"
#include "src/app/this_machine.hpp"
#include "src/base/child_process.hpp"
#include "src/base/comma_list.hpp"
#include "src/base/errors.hpp"
#include "src/base/launcher.hpp"
#include "src/base/scratch_folder.hpp"
#include "src/base/standard_streams.hpp"
#include "src/base/units.hpp"
#include "src/base/watchdog.hpp"
#include "src/results/comparison/acceptance.hpp"
#include "src/results/comparison/acceptance_forms.hpp"
#include "src/results/files/anonymous.hpp"
#include "src/results/files/atomic_file.hpp"
#include "src/results/files/packed_text.hpp"
#include "src/studies/barriers/barrier_facts.hpp"
#include "topology/connection.hpp"
#include "topology/cpu_list.hpp"
#include "topology/health.hpp"

namespace mgsync {
namespace {

// The node as it is looked at, and what it is held against.
struct node {
  std::vector<topology::rank_view> views;
  campaign_request request;  // of the points that may be measured
  references known;
  bool has_gpus() const { return request.device == topology::device::gpu; }
  const topology::machine& seen() const { return views.front().seen; }
};

// Where the reference was measured: on this machine, by its names or the hashes that stand for them, or not.
std::string_view where_measured(const std::vector<result_file>& reference, const machine_record& here) {
  json_document hidden;
  hidden.machine = here;
  make_anonymous(hidden);
  const bool own = std::ranges::any_of(reference, [&](const result_file& f) {
    const auto is_of = [&](const machine_record& m) {
      return likeness_of(f.document.machine, m).level == across::nothing;
    };
    return is_of(here) || is_of(hidden.machine);
  });
  return own ? on_this_machine : on_other_machines;
}

std::vector<json_document> with_facts(std::vector<result_file>& files) {
  std::vector<json_document> documents;
  for (auto& file : files) {
    know_facts(studies(), file.document.results, false);
    documents.push_back(std::move(file.document));
  }
  return documents;
}

node look_at_node(const options& asked) {
  node here;
  here.views = {{0, 0, look_around(asked), topology::read_gpu_binding()}};
  const auto alone = communicator::single(asked.timeout);
  here.request = campaign_of(asked, studies_asked({}), alone, here.views);
  if (!here.has_gpus()) here.request.machine.gpus.clear();
  const auto& machine = here.request.machine;
  if (!asked.against.empty()) {
    here.known = references_named(asked.against, machine, asked.device == "host",
                                  asked.across.value_or(across::hosts));
    return here;
  }
  try {  // the node is looked at without a reference, too
    here.known = references_for(machine, "this machine");
  } catch (const usage_error& error) { here.known.why_none = error.what(); }
  return here;
}

// Whether it tells how this process is bound, or what else runs here, and nothing of the node.
bool is_of_this_process(const topology::finding& f, const topology::gpu_binding& binding) {
  return f.name == "in-use" || f.name == "small-mask" || f.name == "wrong-node" ||
         f.name == "gpus-per-task" || (f.name == "hidden-gpus" && binding.visible);
}

// What keeps the node from being measured. Of host members nothing does: their machine is shared.
std::vector<told_finding> found_at(const node& here) {
  std::vector<told_finding> found;
  if (here.known.most_gpus > 0) found.push_back({topology::missing_gpus(here.seen(), here.known.most_gpus)});
  if (!here.has_gpus()) return found;
  const std::set<std::string_view> matters{"hidden-gpus", "gpus-per-task", "lost-gpus",     "shared-gpu",
                                           "wrong-node",  "small-mask",    "no-peer-access"};
  for (const auto& one : topology::find_problems(here.views, 0))
    if (matters.contains(one.name)) found.push_back({one});
  const auto healths =
      here.seen().is_this_machine ? topology::gpu_healths() : std::vector<topology::gpu_health>{};
  for (const auto& one : topology::find_faults(here.seen(), healths, here.known.machines))
    if (here.known.most_gpus == 0 || one.name != "missing-gpus") found.push_back({one});
  return found;
}

int members_of(const node& here, const reference_spread& known) {
  return here.has_gpus() ? static_cast<int>(topology::visible_gpus(here.seen()).size())
                         : most_host_members(known, here.seen().allowed_cpus.size());
}

// Whether host members that the reference has lack CPUs which this machine has: a wrong binding.
std::optional<told_finding> too_few_cpus(const node& here, const reference_spread& known) {
  const auto& mask = here.seen().allowed_cpus;
  std::size_t all = 0;
  for (const auto& core : here.seen().cores) all += core.cpus.size();
  const auto most = most_host_members(known, all);
  if (here.has_gpus() || std::cmp_less_equal(most, mask.size())) return {};
  return told_finding{
      {"small-mask",
       fmt::format("{} may use {} (CPUs {}), and the reference has barriers of {}, one on each.",
                   here.seen().host, counted(mask.size(), "hardware thread"), topology::write_cpu_list(mask),
                   counted(static_cast<std::uint64_t>(most), "host member")),
       "mpirun --bind-to none, srun --cpus-per-task, or without taskset"}};
}

// The pairs that are connected as the nearest pair is, which is what a reference measured. Of more than eight
// GPUs those that follow one another in a ring.
std::vector<std::vector<int>> pairs_alike(const topology::machine& m, int members) {
  const topology::connection_table connections(m);
  std::vector<std::vector<int>> all;
  std::optional<topology::reach> nearest;
  for (int a = 0; a < members; ++a)
    for (int b = a + 1; b < members; ++b) {
      if (members > 8 && b != a + 1 && !(a == 0 && b == members - 1)) continue;
      const auto reach = connections(a, b).reach;
      if (nearest && reach < *nearest) all.clear();
      if (!nearest || reach < *nearest) nearest = reach;
      if (reach == *nearest) all.push_back({a, b});
    }
  return all;
}

// The points of the reference, placed anywhere, that this program knows and could plan here.
std::vector<point> known_here(const reference_spread& known, int members, topology::device device) {
  std::vector<point> all;
  for (const auto& one : known.points()) {
    auto p = one.point;
    const bool counts =
        p.members == members || (device == topology::device::gpu && p.members <= std::min(members, 2));
    if (!counts || p.device != device || !barriers::facts_of(p).known) continue;
    p.placement = "near";
    all.push_back(std::move(p));
  }
  return all;
}

std::string what_it_is(const point& p) {
  return fmt::format("{} {} {}", subject_of(p), p.members, format_shape(p));
}

// "grid:auto", as points name it: a backend alone would fit none.
bool is_barrier(std::string_view subject) {
  const auto colon = subject.rfind(':');
  if (colon == std::string_view::npos) return false;
  point p;
  p.subject = subject.substr(0, colon);
  p.variant = subject.substr(colon + 1);
  return !p.variant.empty() && barriers::known_facts_of(p).has_value();
}

// Throws usage_error where the reference has nothing that can be measured here.
std::vector<acceptance_point> plan_for(node& here, const options& asked, const reference_spread& known,
                                       std::vector<std::string>& notes) {
  acceptance_request wanted{.device = here.request.device, .members = members_of(here, known)};
  if (here.has_gpus()) wanted.pairs = pairs_alike(here.seen(), wanted.members);
  const auto points = known_here(known, wanted.members, wanted.device);
  std::set<std::string> runs;
  here.request.sweeps = sweeps_of(points);
  if (!points.empty())
    for (const auto& one : planned_points(here.request, here.views))
      if (one.waived.empty()) runs.insert(what_it_is(one.point));
  if (runs.empty() && here.has_gpus() && !here.request.with_cuda) {
    notes.emplace_back(
        "this mgsync was built without CUDA; one that has it measures these, where their libraries are");
    for (const auto& p : points) runs.insert(what_it_is(p));
  }
  wanted.can_run = [&](const point& p) { return runs.contains(what_it_is(p)); };
  std::vector<threshold> table;
  if (!asked.thresholds.empty())
    table =
        read_thresholds(read_text(asked.thresholds, "a table of thresholds"), asked.thresholds, is_barrier);
  wanted.thresholds = table;
  auto plan = plan_acceptance(known, wanted);
  const auto files = counted(here.known.alike.size(), "reference file");
  const auto without = left_out(known, wanted.device, wanted.members);
  if (plan.empty() && !without.empty())
    throw usage_error(fmt::format("of the {} for this node {}; accepted: --against files that were measured "
                                  "while nothing else ran on the machine",
                                  files, without));
  if (const auto count = count_of_one_batch(known, wanted.device); plan.empty() && count != 0)
    throw usage_error(
        fmt::format("{} of the {} {} of one batch only, and so without an interval, and no other can be "
                    "measured here; accepted: --against files that were measured for longer (--max-time)",
                    counted(count, "point"), files, count == 1 ? "is" : "are"));
  if (plan.empty())
    throw usage_error(fmt::format("none of the points of the {} is one that can be measured here; accepted: "
                                  "--against files of this kind of machine and this mgsync",
                                  files));
  if (!without.empty()) notes.push_back(fmt::format("left out of the {}: {}", files, without));
  return plan;
}

std::string plan_text(const std::vector<acceptance_point>& plan, const acceptance_time& time, bool every) {
  std::string text = fmt::format("{}, about {:.0f} s:\n", counted(plan.size(), "point"), time.seconds);
  const auto line = [](const acceptance_point& p, std::string_view where) {
    return fmt::format("  {:<32} {:<6} {:<18} {:>8.3f} us, at most {:.3f} times that\n", subject_of(p.point),
                       format_shape(p.point), where, p.base_us, p.limit);
  };
  for (std::size_t i = 0; i < plan.size();) {
    std::size_t same = i + 1;
    const auto is_alike = [&](const acceptance_point& other) {
      return !every && what_it_is(other.point) == what_it_is(plan[i].point) && plan[i].point.members < 3;
    };
    while (same < plan.size() && is_alike(plan[same])) ++same;
    const auto where = same - i > 1 ? fmt::format("each of {}", same - i)
                       : plan[i].point.placement == "near"
                           ? count_of_members(plan[i].point)
                           : fmt::format("{} {{{}}}", plan[i].point.members == 1 ? "GPU" : "GPUs",
                                         fmt::join(plan[i].point.group, ","));
    text += line(plan[i], where);
    i = same;
  }
  return text;
}

// Measures the plan by a child process, which may crash or hang without this one.
std::optional<json_document> measure_plan(const options& asked, const node& here,
                                          const std::vector<acceptance_point>& plan,
                                          const acceptance_time& time, std::string& why_short) {
  const scratch_folder folder;
  json_document points;
  points.command = asked.typed;
  points.started = "1970-01-01T00:00:00Z";
  points.machine = here.request.machine;
  for (const auto& p : plan) points.results.emplace_back().point = p.point;
  const auto asked_file = folder.file("points.json"), measured_file = folder.file("measured.json");
  write_file_atomically(asked_file, format_json(points));
  const auto timeout = std::min<std::chrono::nanoseconds>(asked.timeout, std::chrono::seconds(10));
  const auto seconds_of = [](auto t) { return fmt::format("{}s", std::chrono::duration<double>(t).count()); };
  const std::vector<std::string> words{"--points",       asked_file,
                                       "--max-time",     fmt::format("{:.3f}s", time.sampling),
                                       "--check-rounds", "1000",
                                       "--timeout",      seconds_of(timeout),
                                       "--device",       here.has_gpus() ? "gpu" : "host",
                                       "--json",         measured_file};
  take_note_of_signals();
  const auto most = std::chrono::duration<double>(3 * time.seconds + 60);
  const int code = run_this_program(words, std::chrono::duration_cast<std::chrono::nanoseconds>(most));
  if (!std::filesystem::exists(measured_file)) {
    why_short = fmt::format("the measurement ended with exit code {}", code);
    return std::nullopt;
  }
  auto measured = read_result_file(measured_file);
  if (!measured.complete) why_short = "the measurement was cut short";
  measured.document.command = asked.typed;
  return std::move(measured.document);
}

std::string points_text(const acceptance& a) {
  std::string text;
  for (const auto& p : a.points)
    text +=
        fmt::format("  {:<10} {:<16} {:<32} {:<6} {:>8.3f} us, {:.3f} times the reference, {:.3f} may be{}\n",
                    to_string(p.state), p.part, p.subject, p.shape, p.us, p.times, p.limit,
                    p.reason.empty() ? "" : ": " + p.reason);
  return text;
}

// Writes everything, also after something that could not be written.
int ended(const options& asked, acceptance a, std::optional<json_document> measured = {}) {
  if (asked.anonymous) make_anonymous(a);
  if (asked.anonymous && measured) make_anonymous(*measured);
  do_each(
      {[&] {
         if (measured && !asked.json.empty()) write_json(asked, format_json(*measured));
       },
       [&] {
         if (asked.line == "-") tell("{}\n", to_line(a));
         else if (!asked.line.empty()) append_line(asked.line, to_line(a));
       },
       [&] { write_form(asked, "junit", to_junit(a)); },
       [&] { write_form(asked, "prometheus", to_prometheus(a, static_cast<double>(std::time(nullptr)))); },
       [&] {
         const auto text = (asked.verbose ? points_text(a) : "") + a.sentence + "\n";
         if (asked.line == "-") say("{}", text);
         else print_table(asked, text);
         for (const auto& note : a.notes) say("note: {}\n", note);
       }});
  return a.exit_code;
}

// What cannot be asked for, before the node is looked at.
void refuse(const options& asked) {
  const auto told = read_launch();
  if (told.size.value_or(1) > 1)
    throw usage_error(fmt::format(
        "mgsync accept judges the node that it runs on, by one process, and {} started {}; "
        "accepted: no launcher, or a single process (srun --ntasks=1, mpirun -np 1 --bind-to none)",
        told.launcher, *told.size));
  if (!asked.topology_file.empty() && !asked.dry_run)
    throw usage_error(fmt::format("--topology {}: what is judged is the node that mgsync runs on; accepted: "
                                  "--dry-run, which plans for the machine that a file describes",
                                  asked.topology_file));
  std::vector<std::string> read;
  for (const auto name : split_at_commas(asked.against)) read.emplace_back(name);
  read.push_back(asked.thresholds);
  std::erase(read, "");
  prepare_files(asked, read);
  if (asked.line != "-" && !asked.line.empty())
    if (const auto why = why_not_appendable(asked.line); !why.empty())
      throw usage_error(fmt::format("--line {}: {}; name another file", asked.line, why));
  if (const auto file = asked.forms.find("prometheus");
      file != asked.forms.end() && file->second != "-" && !file->second.ends_with(".prom"))
    say("mgsync: --prometheus {}: node_exporter's textfile collector reads files that end in .prom only\n",
        file->second);
}

acceptance record_of(const node& here) {
  acceptance record{.node = here.seen().host,
                    .kind = kind_of(here.request.machine),
                    .started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
                    .mgsync = version_with_commit,
                    .findings = found_at(here)};
  for (const auto& g : here.request.machine.gpus) record.gpus.push_back(g.uuid);
  return record;
}

}  // namespace

int accept_command(const options& asked) {
  refuse(asked);
  auto here = look_at_node(asked);
  const auto began = std::chrono::steady_clock::now();
  auto record = record_of(here);
  if (!here.known.alike.empty()) record.against = where_measured(here.known.alike, here.request.machine);
  const auto documents = with_facts(here.known.alike);
  const reference_spread known(documents);
  if (const auto found = too_few_cpus(here, known)) record.findings.push_back(*found);
  if (!record.findings.empty()) {
    const auto is_of_node = [&](const told_finding& f) {
      return !is_of_this_process(f, here.views.front().binding);
    };
    const auto others = std::stable_partition(record.findings.begin(), record.findings.end(), is_of_node);
    judge_unmeasured(record, others != record.findings.begin());
    return ended(asked, std::move(record));
  }
  if (!here.known.why_none.empty()) throw usage_error(here.known.why_none);
  const auto plan = plan_for(here, asked, known, record.notes);
  const auto within = asked.given.contains("within")
                          ? std::optional(std::chrono::duration<double>(asked.within).count())
                          : std::nullopt;
  const auto time = time_of(plan.size(), plan.back().point.members, within);
  if (asked.dry_run) {
    tell("{}: held against {} of its kind ({})\n{}", record.node, counted(here.known.alike.size(), "file"),
         record.kind, plan_text(plan, time, asked.verbose));
    for (const auto& note : record.notes) tell("note: {}\n", note);
    return 0;
  }
  std::string why_short;
  auto measured = measure_plan(asked, here, plan, time, why_short);
  if (signal_received() != 0) return 128 + signal_received();
  judge(record, plan, measured.value_or(json_document{}), why_short);
  if (record.against == on_this_machine)
    record.notes.emplace_back(
        "its reference was measured on this machine itself: this tells whether it has changed, not whether "
        "it is like others");
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return ended(asked, std::move(record), std::move(measured));
}

}  // namespace mgsync
