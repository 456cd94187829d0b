#include "src/results/merging.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/results/result_json.hpp"
#include "src/results/statistics.hpp"

namespace mgsync {
namespace {

constexpr std::string_view interrupted = "interrupted";

std::string name_of(const point& one) {
  return fmt::format("{}:{} on {} ({})", one.backend, one.variant, one.members, one.placement);
}

bool usable(const result& one) { return one.status == result_status::measured && !one.samples.empty(); }

// Whether all samples of `part` are among those of `whole`: the same measurement, read twice.
bool holds(const std::vector<sample>& whole, const std::vector<sample>& part) {
  const auto all = [](const std::vector<sample>& samples) {
    std::multiset<std::tuple<double, double, std::uint32_t, std::uint32_t>> set;
    for (const sample& one : samples) set.emplace(one.short_us, one.long_us, one.rounds_short, one.rounds_long);
    return set;
  };
  const auto outer = all(whole), inner = all(part);
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

std::uint32_t batches_of(const std::vector<sample>& samples) {
  std::set<std::uint32_t> numbers;
  for (const sample& one : samples) numbers.insert(one.batch);
  return static_cast<std::uint32_t>(numbers.size());
}

void join(result& into, const result& other) {
  std::uint32_t next = 0;
  for (const sample& one : into.samples) next = std::max(next, one.batch + 1);
  for (sample one : other.samples) {
    one.batch += next;
    into.samples.push_back(one);
  }
  into.batches = batches_of(into.samples);
  into.latency_us = summarize(into.samples);
  // Checked only if both were; then the rounds of both bound the violations.
  const check_summary &a = into.check, &b = other.check;
  const bool both = a.rounds > 0 && b.rounds > 0;
  const std::uint64_t rounds = both ? a.rounds + b.rounds : 0;
  into.check = {.rounds = rounds,
                .observations = both ? a.observations + b.observations : 0,
                .violations = 0,
                .control_flagged = a.control_flagged && b.control_flagged,
                .trivial = a.trivial && b.trivial,
                .bound = upper_bound(rounds)};
  if (into.stopped == interrupted) into.stopped = other.stopped;
  if (into.slowest_member != other.slowest_member) into.slowest_member.reset();
  for (const auto& note : other.notes)
    if (std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end()) into.notes.push_back(note);
}

result finished_early(const unfinished_point& one) {
  result out;
  out.point = one.point;
  out.status = result_status::measured;
  out.samples = one.samples;
  out.batches = batches_of(one.samples);
  out.latency_us = summarize(one.samples);
  out.stopped = interrupted;
  out.notes = {"its store ended before the point did, and without its check"};
  return out;
}

class merging {
 public:
  explicit merging(const std::string& host) : host_(host) {}

  void add(result one, const result_file& from) {
    const std::string& host = from.document.machine.host;
    if (host != host_ && one.status != result_status::waived) one.notes.push_back("on host " + host);
    const auto [found, fresh] = place_.try_emplace(canonical_key(one.point), results_.size());
    if (fresh)
      results_.push_back(std::move(one));
    else
      unite(results_[found->second], std::move(one), from.name);
  }

  std::vector<result> results() { return std::move(results_); }
  std::vector<std::string> notes() { return std::move(notes_); }

 private:
  void unite(result& known, result&& other, const std::string& file) {
    const auto failed = [](const result& one) { return one.status == result_status::failed; };
    if (failed(known) || failed(other)) {
      if (failed(known) != failed(other))
        notes_.push_back(fmt::format("{} failed in one file and not in another: it failed", name_of(known.point)));
      if (!failed(known)) known = std::move(other);
      return;
    }
    if (!usable(other)) return;
    if (!usable(known)) {
      known = std::move(other);
    } else if (holds(known.samples, other.samples)) {
      // A document of the same samples has the check that an unfinished store lacks.
      if (known.check.rounds == 0 && known.samples.size() == other.samples.size()) known = std::move(other);
    } else if (holds(other.samples, known.samples)) {
      known = std::move(other);
    } else {
      join(known, other);
      notes_.push_back(fmt::format("{}: {} was measured on its own; its samples are joined, {} batches in all",
                                   name_of(known.point), file, known.batches));
    }
  }

  std::string host_;
  std::vector<result> results_;
  std::map<std::string, std::size_t> place_;
  std::vector<std::string> notes_;
};

// What all files say alike stands as it is, what they say differently as a list.
std::map<std::string, std::string> joint_settings(std::span<const result_file> files) {
  std::map<std::string, std::string> settings;
  std::map<std::string, std::vector<std::string>> values;
  for (const result_file& file : files)
    for (const auto& [key, value] : file.document.settings) {
      auto& known = values[key];
      if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
    }
  for (const auto& [key, each] : values) settings[key] = fmt::format("{}", fmt::join(each, ", "));
  return settings;
}

}  // namespace

merged_results merge_results(std::span<const result_file> files) {
  if (files.empty()) throw std::invalid_argument("nothing to merge");
  const json_document& first = files.front().document;
  merged_results out;
  out.document.seed = first.seed;
  out.document.started = first.started;
  out.document.machine = first.machine;
  out.document.settings = joint_settings(files);
  merging all(first.machine.host);
  for (const result_file& file : files) {
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
  return out;
}

}  // namespace mgsync
