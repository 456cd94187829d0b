// What came of a point: the rows of the table, the JSON document and the store.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/results/doubt.hpp"
#include "src/results/facts.hpp"
#include "src/results/metric.hpp"
#include "src/results/point.hpp"

namespace mgsync {

enum class result_status {
  measured,
  waived,       // cannot be measured here, for a reason
  failed,       // this subject is wrong, or stuck
  error,        // something else broke: while it was measured, or before it was tried
  interrupted,  // the command was asked to end; what was measured until then is there
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
  sum,           // a sum, or another result of computing, that must come out
  code,          // machine code that was read
  known_answer,  // a number that is known from elsewhere
  outcome,       // what happened: finished, deadlocked, refused
};
template <>
struct enum_words<verdict_kind> {
  static constexpr std::pair<verdict_kind, std::string_view> list[] = {
      {verdict_kind::unchecked, "unchecked"}, {verdict_kind::rounds, "rounds"},
      {verdict_kind::trivial, "trivial"},     {verdict_kind::sum, "sum"},
      {verdict_kind::code, "code"},           {verdict_kind::known_answer, "known_answer"},
      {verdict_kind::outcome, "outcome"}};
};

// Between whom a check compared.
enum class verdict_scope {
  all,           // every member with every other
  within_hosts,  // members of one host; no order between hosts was checked
};
template <>
struct enum_words<verdict_scope> {
  static constexpr std::pair<verdict_scope, std::string_view> list[] = {
      {verdict_scope::all, "all"}, {verdict_scope::within_hosts, "within-hosts"}};
};

// Whether the figure means something: what was shown, and how.
struct verdict {
  verdict_kind kind = verdict_kind::unchecked;
  verdict_scope scope = verdict_scope::all;
  bool passed = false;
  std::uint64_t rounds = 0;        // that were checked, or other repetitions of the check
  std::uint64_t observations = 0;  // comparisons made
  std::uint64_t violations = 0;
  bool control_flagged =
      false;                    // a subject broken on purpose was caught; without it a pass of rounds is void
  std::optional<double> bound;  // violations per round are at most this, with 95 % confidence (3 / rounds)
  std::map<std::string, std::string> details;  // what else, in words: "outcome", "finding", "architecture"
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

// Something to keep beside the numbers: a timeline, a histogram, machine code.
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

// What was told in numbers beside the metrics: one value, or several in their order. Quantities of one result
// with equally many values may be columns of one table.
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

struct result {
  mgsync::point point;
  result_status status = result_status::waived;
  std::string reason;  // why not measured; empty when measured
  mgsync::verdict verdict;
  std::vector<metric> metrics;  // the first decides who is best; none: no number was found
  std::vector<sample> samples;  // all that the metrics were computed from, in the order of measuring
  std::string method;           // what gave the numbers: "host clock, difference of two runs"
  stop_reason stopped = stop_reason::none;
  std::uint32_t attempt = 1;  // a point that failed, or met an error, and was tried again counts on
  std::vector<attachment> attachments;
  // What it ran with, as found out: "algorithm" (where the variant is auto), "peer_memory", "slowest_member"
  // (of which the duration was longest most often), "host" (in a merged document, where it is another), ...
  std::map<std::string, std::string> environment;
  // The same in numbers, and what was seen beside the metrics: "clock" in MHz, "begin" and "end" of a round,
  // ...
  quantities_by_name quantities;
  std::vector<std::string> notes;
  std::vector<doubt> doubts;  // why its figures may mean little; of each kind one
  // Where one passage of its subject, which is what the first metric says, synchronizes anybody.
  std::optional<known_facts> facts;

  bool has_metrics() const { return !metrics.empty(); }
  const metric* find(std::string_view name) const;  // nullptr: no such metric
  std::string found(const std::string& key) const;  // of the environment; empty: unknown
  // It synchronizes, and promises less than a barrier does: it wins and ties nothing, unless that was asked
  // for.
  bool orders_less() const { return facts && facts->orders_less() && !facts->ranked_anyway; }
  // Of the quantities: the first value, or all of them; nothing where there is no such quantity.
  std::optional<double> number(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;
};
// The notes of a result, and one for each number of its metrics that a file has no word for.
std::vector<std::string> notes_with_gaps(const result&);
// All but the samples, which a store has in lines of their own.
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
// With the samples too, as a document has it.
void all_fields(auto& way, result& r) {
  fields(way, r);
  way.needs("samples", told_as{r.samples, columns_of, samples_of});
}

// "nccl:stream (orders less)": its subject where it stands among others.
std::string marked_subject_of(const result&);

}  // namespace mgsync
