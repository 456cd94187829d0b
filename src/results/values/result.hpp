// What came of a point: the rows of the table, the JSON document and the store.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/values/doubt.hpp"
#include "src/results/values/facts.hpp"
#include "src/results/values/metric.hpp"
#include "src/results/values/point.hpp"

namespace mgsync {

enum class result_status {
  measured,
  waived,       // cannot be measured here, for a reason
  failed,       // this subject is wrong, or stuck
  error,        // something else failed, while it was measured or before it was tried
  interrupted,  // the command was asked to end; the samples taken until then are kept
};
template <>
struct enum_words<result_status> {
  static constexpr std::pair<result_status, std::string_view> list[] = {
      {result_status::measured, "measured"},
      {result_status::waived, "waived"},
      {result_status::failed, "failed"},
      {result_status::error, "error"},
      {result_status::interrupted, "interrupted"}};
};

enum class stop_reason { none, precision, max_time, interrupted };  // why sampling ended
template <>
struct enum_words<stop_reason> {
  static constexpr std::pair<stop_reason, std::string_view> list[] = {
      {stop_reason::none, ""},
      {stop_reason::precision, "precision"},
      {stop_reason::max_time, "max-time"},
      {stop_reason::interrupted, "interrupted"}};
};

enum class verdict_kind {
  unchecked,
  rounds,        // checked rounds of a barrier
  trivial,       // one worker only: there is nothing to check
  sum,           // a computed result, such as a sum, compared with the right one
  code,          // machine code that was read
  known_answer,  // compared with a number that is known from elsewhere
  outcome,       // an observed outcome: finished, deadlocked, refused
};
template <>
struct enum_words<verdict_kind> {
  static constexpr std::pair<verdict_kind, std::string_view> list[] = {
      {verdict_kind::unchecked, "unchecked"}, {verdict_kind::rounds, "rounds"},
      {verdict_kind::trivial, "trivial"},     {verdict_kind::sum, "sum"},
      {verdict_kind::code, "code"},           {verdict_kind::known_answer, "known_answer"},
      {verdict_kind::outcome, "outcome"}};
};

// Which members a check compared with each other.
enum class verdict_scope {
  all,           // every member with every other
  within_hosts,  // members of one host; no order between hosts was checked
};
template <>
struct enum_words<verdict_scope> {
  static constexpr std::pair<verdict_scope, std::string_view> list[] = {
      {verdict_scope::all, "all"}, {verdict_scope::within_hosts, "within-hosts"}};
};

// What the check of a subject has shown, and how.
struct verdict {
  verdict_kind kind = verdict_kind::unchecked;
  verdict_scope scope = verdict_scope::all;
  bool passed = false;
  std::uint64_t rounds = 0;        // checked rounds, or other repetitions of the check
  std::uint64_t observations = 0;  // comparisons made
  std::uint64_t violations = 0;
  bool control_flagged =
      false;                    // a subject broken on purpose was caught; without it a pass of rounds is void
  std::optional<double> bound;  // violations per round are at most this, with 95 % confidence (3 / rounds)
  std::map<std::string, std::string> details;  // further facts in words: "outcome", "finding", "architecture"
};
void fields(auto& way, verdict& v) {
  way.needs("kind", v.kind);
  way.needs("scope", v.scope);
  way.needs("passed", v.passed);
  way.may("rounds", v.rounds);
  way.may("observations", v.observations);
  way.may("violations", v.violations);
  way.may("control_flagged", v.control_flagged);
  way.may("bound", v.bound);
  way("details", v.details);
}

// "pass", "partial" (nothing was found within the scope, and the scope is not all), "unchecked", "FAIL".
std::string_view word_of(const verdict&);

// A text that belongs to a result: a timeline, a histogram, machine code.
struct attachment {
  std::string name;
  std::string media_type = "text/plain";
  std::string content;
  bool operator==(const attachment&) const = default;
};
void fields(auto& way, attachment& a) {
  way.needs("name", a.name);
  way.needs("media_type", a.media_type);
  way.needs("content", verbatim{a.content});
}

// Numbers that belong to a result and are no metric: one value, or several in order. Quantities of one result
// with equally many values may be shown as columns of one table.
struct quantity {
  std::string unit;  // empty: a count
  std::vector<double> values;
  bool operator==(const quantity&) const = default;
};
void fields(auto& way, quantity& q) {
  way.needs("unit", q.unit);
  way.needs("values", q.values);
}
using quantities_by_name = std::map<std::string, quantity, std::less<>>;

// Whether the subject's rounds at that point are driven by the host: of GPU members, kernels are launched
// anew.
inline bool is_driven_by_host(const point& where, const std::optional<known_facts>& facts) {
  return where.device == topology::device::gpu && facts && facts->driver != fact::driver::device;
}

struct result {
  mgsync::point point;
  result_status status = result_status::waived;
  std::string reason;  // why not measured; empty when measured
  mgsync::verdict verdict;
  std::vector<metric> metrics;  // subjects are ranked by the first; empty: nothing was measured
  std::vector<sample> samples;  // all that the metrics were computed from, in the order of measuring
  std::string method;           // how the values were obtained: "host clock, difference of two runs"
  stop_reason stopped = stop_reason::none;
  std::uint32_t attempt = 1;  // incremented when --resume tries a failed point again
  std::vector<attachment> attachments;
  // What it was measured in, as found at run time: "algorithm" (where the variant is auto), "peer_memory",
  // "slowest_member" (of which the duration was longest most often), "host" (in a merged document, where it
  // is another), ...
  std::map<std::string, std::string> environment;
  // Further numbers: "clock" in MHz, "begin" and "end" of a round, ...
  quantities_by_name quantities;
  std::vector<std::string> notes;
  std::vector<doubt> doubts;  // why its values may mean little; at most one of each kind
  // Present where the subject synchronizes, so that the first metric is the latency of one passage.
  std::optional<known_facts> facts;
  // Of which of the files that were put together; those of one were measured interleaved. It is not written.
  std::size_t file = 0;
  // Whether what is timed are launches, also where the subject synchronizes nothing. Not written: the study
  // says so of its results.
  bool times_launches = false;

  bool has_metrics() const { return !metrics.empty(); }
  const metric* find(std::string_view name) const;  // nullptr: no such metric
  std::string found(const std::string& key) const;  // an entry of the environment; empty: unknown
  // Whether the subject orders less than a barrier does. Then it is not ranked, unless that was requested.
  bool orders_less() const { return facts && facts->orders_less() && !facts->ranked_anyway; }
  // Whether it orders memory inside each node alone, and between nodes only what it carries.
  bool orders_inside_nodes() const { return facts && facts->order == fact::order::inside_nodes; }
  // Whether the host has a part in each of its rounds: of GPU members, kernels are launched anew.
  bool is_driven_by_host() const {
    return mgsync::is_driven_by_host(point, facts) ||
           (times_launches && point.device == topology::device::gpu);
  }
  // The first value of a quantity, or all of its values; nothing or empty where there is no such quantity.
  std::optional<double> number(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;
};
// The notes of a result, and one for each number of its metrics that JSON cannot hold (NaN, infinity).
std::vector<std::string> notes_with_gaps(const result&);
// All fields except the samples, which a store writes in lines of their own.
void fields(auto& way, result& r) {
  fields(way, r.point);
  way.needs("status", r.status);
  way.needs("reason", r.reason);
  way.needs("verdict", r.verdict);
  way.needs("metrics", by_name{r.metrics});
  way.may("method", r.method);
  way.may("stopped", r.stopped);
  way.may("attempt", r.attempt);
  way.may("attachments", r.attachments);
  way.may("environment", r.environment);
  way("quantities", r.quantities);
  way.may("notes", told_as{r.notes, [&r](const auto&) { return notes_with_gaps(r); },
                           [](auto&& notes, auto&) { return std::move(notes); }});
  way("doubts", r.doubts);
  way("facts", r.facts);
}
// All fields including the samples, as a document contains them.
void all_fields(auto& way, result& r) {
  fields(way, r);
  way.needs("samples", told_as{r.samples, columns_of, samples_of});
}

// The subject's name in tables with others: "nccl:stream (orders less)".
std::string marked_subject_of(const result&);

}  // namespace mgsync
