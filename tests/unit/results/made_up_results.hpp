// Results as a sweep would give them, for the tests of what writes and reads them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "made_up_series.hpp"
#include "src/results/values/machine_record.hpp"
#include "src/results/values/result.hpp"
#include "src/results/values/statistics.hpp"

namespace mgsync::test {

inline point a_point(std::string subject, std::string variant, int members) {
  point one;
  one.subject = std::move(subject);
  one.variant = std::move(variant);
  one.members = members;
  for (int id = 0; id < members; ++id) one.group.push_back(id);
  one.set(axes::blocks_per_sm, 1.0);
  one.set(axes::load, "idle");
  return one;
}

inline const point hub = a_point("multigrid", "hub", 4);
inline const point inbox = a_point("multigrid", "inbox", 4);

inline verdict passed_rounds() {
  verdict one;
  one.kind = verdict_kind::rounds;
  one.passed = true;
  one.rounds = 20000;
  one.observations = 320000;
  one.control_flagged = true;
  one.bound = 3.0 / 20000;
  return one;
}

inline result measured(point what, double latency_us, std::uint64_t seed = 1, int batches = 10,
                       double shift = 0.002) {
  result one;
  one.point = std::move(what);
  one.status = result_status::measured;
  made_up_series source({.latency_us = latency_us, .jitter = 0.01, .batch_shift = shift}, seed);
  for (int batch = 0; batch < batches; ++batch) source.add_batch(one.samples, 5);
  one.metrics = {summarize({"latency", "us"}, one.samples)};
  one.verdict = passed_rounds();
  one.method = "host clock, difference of two runs";
  one.stopped = stop_reason::precision;
  one.environment["slowest_member"] = "0";
  return one;
}

// The samples of a result get a further metric that is `times` the first.
inline void add_metric(result& one, std::string name, std::string unit, better direction, double times) {
  for (sample& each : one.samples) each.values.push_back({name, times * each.at(one.metrics.front().name)});
  one.metrics.push_back(summarize({name, unit, direction}, one.samples));
}

inline result waived(point what, std::string reason) {
  result one;
  one.point = std::move(what);
  one.reason = std::move(reason);
  return one;
}

inline result failed(point what, std::string reason) {
  result one = waived(std::move(what), std::move(reason));
  one.status = result_status::failed;
  one.verdict = passed_rounds();
  one.verdict.passed = false;
  one.verdict.violations = 17;
  one.verdict.bound = 1;
  return one;
}

inline result an_error(point what, std::string reason) {
  result one = waived(std::move(what), std::move(reason));
  one.status = result_status::error;
  return one;
}

inline machine_record a_machine() {
  machine_record machine;
  machine.host = "n1";
  machine.hosts = {"n1", "n2"};
  machine.cpu_model = "A \"quoted\" CPU, 2.5 GHz";
  machine.cores = 4;
  machine.allowed_cpus = {0, 1, 2, 3, 8};
  machine.kernel = "Linux 6.1";
  machine.compiler = "GNU 12.2.0";
  machine.mpi = "none";
  machine.hwloc = "2.9.0";
  machine.mgsync = "0.1.0";
  machine.ranks = 2;
  machine.notes = {"A cgroup quota leaves n1 the time of 2 CPU(s)."};
  machine.pinning = "one core per worker";
  topology::gpu gpu;
  gpu.name = "a GPU";
  gpu.uuid = "GPU-0";
  gpu.cuda_ordinal = 0;
  gpu.near_cpus = {0, 1};
  gpu.memory_bytes = std::uint64_t{141} << 30;
  machine.gpus = {gpu};
  return machine;
}

// Equal in all that is reported; samples and numbers bit for bit, NaN equal to NaN.
inline bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

inline bool same(const std::vector<sample>& a, const std::vector<sample>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const sample& x, const sample& y) {
           if (x.batch != y.batch || x.values.size() != y.values.size()) return false;
           return std::all_of(x.values.begin(), x.values.end(), [&y](const named_value& one) {
             return same_number(one.value, y.at(one.name));
           });
         });
}

inline bool same(const metric& a, const metric& b) {
  for (const auto member : {&metric::median, &metric::ci95_low, &metric::ci95_high, &metric::confidence,
                            &metric::min, &metric::max, &metric::spread})
    if (!same_number(a.*member, b.*member)) return false;
  return a.name == b.name && a.unit == b.unit && a.better == b.better && a.sigma == b.sigma &&
         a.further == b.further && a.samples == b.samples && a.raw == b.raw;
}

inline bool same(const verdict& a, const verdict& b) {
  return a.kind == b.kind && a.scope == b.scope && a.passed == b.passed && a.rounds == b.rounds &&
         a.observations == b.observations && a.violations == b.violations &&
         a.control_flagged == b.control_flagged && a.bound == b.bound && a.details == b.details;
}

inline bool same(const result& a, const result& b) {
  return a.point == b.point && a.status == b.status && a.reason == b.reason && same(a.verdict, b.verdict) &&
         std::equal(a.metrics.begin(), a.metrics.end(), b.metrics.begin(), b.metrics.end(),
                    [](const metric& x, const metric& y) { return same(x, y); }) &&
         same(a.samples, b.samples) && a.method == b.method && a.stopped == b.stopped &&
         a.attempt == b.attempt && a.attachments == b.attachments && a.environment == b.environment &&
         a.quantities == b.quantities && a.notes == b.notes && a.doubts == b.doubts;
}

}  // namespace mgsync::test
