#include "src/results/files/merging.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/json_fields.hpp"
#include "src/results/values/machine_likeness.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync {
namespace {

// Whether the result counts although another file has an error for its point: it was measured (an outcome has
// no samples), or interrupted with samples.
bool usable(const result& one) {
  return one.status == result_status::measured ||
         (one.status == result_status::interrupted && !one.samples.empty());
}

std::string outcome_of(const result& one) {
  const auto found = one.verdict.details.find("outcome");
  return found == one.verdict.details.end() ? "" : found->second;
}

// Whether all samples of `part` are among those of `whole`, so that both are the same measurement.
bool holds(const std::vector<sample>& whole, const std::vector<sample>& part) {
  const auto all = [](const std::vector<sample>& samples) {
    std::multiset<std::string> set;
    for (const sample& one : samples) set.insert(dumped(to_json(by_name{one.values})));
    return set;
  };
  const auto outer = all(whole), inner = all(part);
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

// The joined verdict: checked only if both were, within the smaller scope; the rounds of both are added up.
verdict joint(const verdict& a, const verdict& b) {
  if (a.kind != b.kind || !a.passed || !b.passed) return a.passed ? b : a;
  verdict both = a;
  both.scope = std::max(a.scope, b.scope);
  both.rounds += b.rounds;
  both.observations += b.observations;
  both.control_flagged = a.control_flagged && b.control_flagged;
  if (a.bound && b.bound) both.bound = upper_bound(both.rounds);
  return both;
}

void join(result& into, const result& other) {
  std::uint32_t next = 0;
  for (const sample& one : into.samples) next = std::max(next, one.batch + 1);
  for (sample one : other.samples) {
    one.batch += next;
    into.samples.push_back(std::move(one));
  }
  std::vector<metric_name> names{into.metrics.begin(), into.metrics.end()};
  for (const metric& one : other.metrics)
    if (into.find(one.name) == nullptr) names.push_back(one);
  into.metrics = summarize_all(names, into.samples);
  into.verdict = joint(into.verdict, other.verdict);
  if (into.status == result_status::interrupted) {
    into.status = other.status;
    into.stopped = other.stopped;
    into.reason = other.reason;
  }
  if (into.found("slowest_member") != other.found("slowest_member")) into.environment.erase("slowest_member");
  for (const auto& note : other.notes)
    if (std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end()) into.notes.push_back(note);
  add_doubts(into.doubts, other.doubts);
  add_doubts(into.doubts, doubts_of_samples(into.metrics, into.samples));
}

result finished_early(const unfinished_point& one) {
  result out;
  out.point = one.point;
  out.status = result_status::interrupted;
  out.reason = "its store ended before the point did";
  out.samples = one.samples;
  out.metrics = summarize_all(one.metrics, one.samples);
  out.method = one.method;
  out.attempt = one.attempt;
  out.stopped = stop_reason::interrupted;
  out.doubts = doubts_of_samples(out.metrics, out.samples);
  out.notes = {"its store ended before the point did, and without its check"};
  return out;
}

class merging {
 public:
  merging(const machine_record& first, replication unit)
      : host_(first.host), mgsync_(first.mgsync), unit_(unit) {}

  void add(result one, const result_file& from) {
    if (unit_ == replication::processes) {
      for (sample& each : one.samples) each.batch = 0;
      // A single process gives no interval over processes, however many batches it has.
      if (one.has_metrics() && !one.samples.empty())
        one.metrics = summarize_all({one.metrics.begin(), one.metrics.end()}, one.samples);
      if (one.has_metrics()) one.environment["processes"] = "1";
    }
    const machine_record& machine = from.document.machine;
    if (machine.host != host_) {
      if (one.status != result_status::waived) one.notes.push_back("on host " + machine.host);
      one.environment.try_emplace("host", machine.host);
    }
    if (machine.mgsync != mgsync_) one.environment.try_emplace("mgsync", machine.mgsync);
    const auto [found, fresh] = place_.try_emplace(canonical_text(one.point), results_.size());
    if (fresh) results_.push_back(std::move(one));
    else unite(results_[found->second], std::move(one), from.name);
  }

  std::vector<result> results() { return std::move(results_); }
  std::vector<std::string> notes() { return std::move(notes_); }

 private:
  void unite(result& known, result&& other, const std::string& file) {
    if (known.attempt != other.attempt) return take_later_attempt(known, std::move(other));
    const auto failed = [](const result& one) { return one.status == result_status::failed; };
    if (failed(known) || failed(other)) {
      if (failed(known) != failed(other))
        notes_.push_back(
            fmt::format("{} failed in one file and not in another: it failed", name_of(known.point)));
      if (!failed(known)) known = std::move(other);
      return;
    }
    if (!usable(other)) {
      if (!usable(known) && other.status == result_status::error) known = std::move(other);
      return;
    }
    if (!usable(known)) {
      known = std::move(other);
    } else if (known.samples.empty() && other.samples.empty()) {
      if (outcome_of(known) != outcome_of(other))
        notes_.push_back(fmt::format("{}: {} in one file and {} in {}: the first stands",
                                     name_of(known.point), outcome_of(known), outcome_of(other), file));
    } else if (holds(known.samples, other.samples)) {
      // Of two files with the same samples, a document also has the verdict, which an unfinished store lacks.
      if (!known.verdict.passed && known.samples.size() == other.samples.size()) known = std::move(other);
    } else if (holds(other.samples, known.samples)) {
      known = std::move(other);
    } else {
      join(known, other);
      if (unit_ == replication::processes) {
        if (known.has_metrics())
          known.environment["processes"] = std::to_string(known.metrics.front().raw.size());
        return;
      }
      notes_.push_back(fmt::format(
          "{}: {} was measured on its own; its samples are joined, {} batches in all", name_of(known.point),
          file, known.has_metrics() ? known.metrics.front().raw.size() : 0));
    }
  }

  // The attempt of --resume with the higher number counts; it has a note about the earlier one.
  static void take_later_attempt(result& known, result&& other) {
    if (other.attempt > known.attempt) known = std::move(other);
  }

  std::string host_, mgsync_;  // of the first file
  replication unit_;
  std::vector<result> results_;
  std::map<std::string, std::size_t> place_;
  std::vector<std::string> notes_;
};

// The values that these files have of each setting, each once.
std::map<std::string, std::vector<std::string>> values_of_settings(std::span<const result_file> files) {
  std::map<std::string, std::vector<std::string>> values;
  for (const result_file& file : files)
    for (const auto& [key, value] : file.document.settings) {
      auto& known = values[key];
      if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
    }
  return values;
}

// What all files say alike stands as it is, what they say differently as a list.
std::map<std::string, std::string> joint_settings(
    const std::map<std::string, std::vector<std::string>>& values) {
  std::map<std::string, std::string> settings;
  const auto has_comma = [](const std::string& value) { return value.find(',') != std::string::npos; };
  for (const auto& [key, each] : values)
    settings[key] = fmt::format("{}", fmt::join(each, std::ranges::any_of(each, has_comma) ? "; " : ", "));
  return settings;
}

}  // namespace

merged_results merge_results(std::span<const result_file> files, replication unit) {
  if (files.empty()) throw std::invalid_argument("nothing to merge");
  const json_document& first = files.front().document;
  merged_results out;
  out.document.seed = first.seed;
  out.document.started = first.started;
  out.document.machine = first.machine;
  const auto settings = values_of_settings(files);
  out.document.settings = joint_settings(settings);
  merging all(first.machine, unit);
  for (const result_file& file : files) {
    if (!file.complete && out.document.ended == "complete") out.document.ended = file.document.ended;
    out.document.started = std::min(out.document.started, file.document.started);
    auto& hosts = out.document.machine.hosts;
    for (const auto& host : file.document.machine.hosts)
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
    for (const result& one : file.document.results) all.add(one, file);
    for (const unfinished_point& one : file.unfinished)
      if (!one.samples.empty()) all.add(finished_early(one), file);
  }
  out.document.results = all.results();
  out.notes = all.notes();
  for (const char* name : software_settings)
    if (const auto several = settings.find(name); several != settings.end() && several->second.size() > 1)
      out.notes.push_back(
          fmt::format("these files are of several versions of {} ({}), and their batches count alike", name,
                      fmt::join(several->second, ", ")));
  return out;
}

}  // namespace mgsync
