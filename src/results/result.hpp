// What was asked (a point), and what came of it (a result): the rows of the table, the JSON document and the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/group.hpp"

namespace mgsync {

// All that describes one measurement. Two points with equal members are the same point: this is the resume key.
struct point {
  std::string backend;
  std::string variant;
  topology::device device = topology::device::host;
  int members = 0;
  int ranks = 1;                              // that own these members
  std::vector<int> group;                     // member ids, in order
  std::string node;                           // the host, where each node is measured by itself; else empty
  std::string placement = "near";
  bool pinned = true;
  bool oversubscribed = false;
  std::optional<unsigned> blocks_per_sm;      // host: threads per member
  std::optional<unsigned> blocks;             // blocks per GPU in all, where the shape says so
  std::optional<unsigned> threads_per_block;  // GPU only
  std::string load = "idle";                  // as --load takes it: "idle", "peer-stores:x512@others"
  std::uint32_t work_units = 0;
  std::uint32_t payload_words = 1;
  std::string peer_memory_asked;              // "", "ipc", "vmm"
  bool operator==(const point&) const = default;
};

// One sample of docs/method.md, "Barrier latency": a pair of runs measured back to back.
struct sample {
  std::uint32_t batch = 0;     // barrier objects are new in each batch
  double short_us = 0;         // T(rounds_short)
  double long_us = 0;          // T(rounds_long)
  std::uint32_t rounds_short = 0;
  std::uint32_t rounds_long = 0;
  double latency_us() const { return (long_us - short_us) / (static_cast<double>(rounds_long) - rounds_short); }
};

enum class result_status { measured, waived, failed };

struct check_summary {
  std::uint64_t rounds = 0;        // checked rounds; 0: unchecked
  std::uint64_t observations = 0;  // comparisons made
  std::uint64_t violations = 0;
  bool control_flagged = false;    // the positive control was caught; without it a pass is void
  bool trivial = false;            // one worker only: there is nobody to wait for
  double bound = 1;                // violations per round are at most this, with 95 % confidence (3 / rounds)
};

// Whether it says that the barrier is one.
inline bool is_checked(const check_summary& check) { return check.trivial || (check.rounds > 0 && check.control_flagged); }

struct latency_summary {
  double median = 0;     // over the batches' medians
  double ci95_low = 0;   // of that median
  double ci95_high = 0;
  double confidence = 0; // that the interval really has: below 0.95 (too few batches) it is the whole range
  double min = 0;        // of the samples
  double sigma = 0;      // eq. 8: from the spreads of T(rounds_short) and T(rounds_long), per round
  double spread = 0;     // of the samples themselves: half the central 68 %
  std::optional<double> p5, p95;  // of run means; only from 100 samples on
};

struct result {
  mgsync::point point;
  result_status status = result_status::waived;
  std::string reason;        // why waived or failed; empty when measured
  check_summary check;
  std::optional<latency_summary> latency_us;   // only for a measured point
  std::vector<sample> samples;
  std::uint32_t batches = 0;
  std::string stopped;       // why sampling stopped: "precision", "max-time", "interrupted"
  std::string method = "host clock, difference of two runs";
  std::string algorithm;     // what ran where the variant is auto
  std::string peer_memory;
  std::optional<int> slowest_member;  // the member that most often had the longest duration
  std::vector<std::string> notes;     // "oversubscribed", "unpinned", ...
};

}  // namespace mgsync
