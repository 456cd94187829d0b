// Results as a sweep would give them, for the tests of what writes and reads them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "made_up_series.hpp"
#include "src/results/machine_record.hpp"
#include "src/results/result.hpp"
#include "src/results/statistics.hpp"

namespace mgsync::test {

inline point a_point(std::string backend, std::string variant, int members) {
  point one;
  one.backend = std::move(backend);
  one.variant = std::move(variant);
  one.members = members;
  for (int id = 0; id < members; ++id) one.group.push_back(id);
  one.blocks_per_sm = 1;
  return one;
}

inline result measured(point what, double latency_us, std::uint64_t seed = 1, int batches = 10, double shift = 0.002) {
  result one;
  one.point = std::move(what);
  one.status = result_status::measured;
  made_up_series source({.latency_us = latency_us, .jitter = 0.01, .batch_shift = shift}, seed);
  for (int batch = 0; batch < batches; ++batch) source.add_batch(one.samples, 5);
  one.batches = static_cast<std::uint32_t>(batches);
  one.latency_us = summarize(one.samples);
  one.check = {.rounds = 20000,
               .observations = 320000,
               .violations = 0,
               .control_flagged = true,
               .trivial = false,
               .bound = 3.0 / 20000};
  one.stopped = "precision";
  one.slowest_member = 0;
  return one;
}

inline result waived(point what, std::string reason) {
  result one;
  one.point = std::move(what);
  one.reason = std::move(reason);
  return one;
}

inline result failed(point what, std::string reason) {
  result one;
  one.point = std::move(what);
  one.status = result_status::failed;
  one.reason = std::move(reason);
  one.check = {
      .rounds = 20000, .observations = 320000, .violations = 17, .control_flagged = true, .trivial = false, .bound = 1};
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

inline bool same(const sample& a, const sample& b) {
  return a.batch == b.batch && a.short_us == b.short_us && a.long_us == b.long_us && a.rounds_short == b.rounds_short &&
         a.rounds_long == b.rounds_long;
}

inline bool same(const std::vector<sample>& a, const std::vector<sample>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

inline bool same(const result& a, const result& b) {
  if (a.latency_us.has_value() != b.latency_us.has_value()) return false;
  if (a.latency_us) {
    const latency_summary &x = *a.latency_us, &y = *b.latency_us;
    for (const auto member :
         {&latency_summary::median, &latency_summary::ci95_low, &latency_summary::ci95_high,
          &latency_summary::confidence, &latency_summary::min, &latency_summary::sigma, &latency_summary::spread})
      if (!same_number(x.*member, y.*member)) return false;
    if (x.p5 != y.p5 || x.p95 != y.p95) return false;
  }
  const check_summary &c = a.check, &d = b.check;
  return a.point == b.point && a.status == b.status && a.reason == b.reason && c.rounds == d.rounds &&
         c.observations == d.observations && c.violations == d.violations && c.control_flagged == d.control_flagged &&
         c.trivial == d.trivial && c.bound == d.bound && same(a.samples, b.samples) && a.batches == b.batches &&
         a.stopped == b.stopped && a.method == b.method && a.algorithm == b.algorithm &&
         a.peer_memory == b.peer_memory && a.slowest_member == b.slowest_member && a.notes == b.notes;
}

}  // namespace mgsync::test
