// A fleet: thousands of nodes' acceptances held against one another. Who is slow among equals needs no
// reference: nodes, GPUs and pairs that differ from the fleet's median by more than its own spread, days on
// which all of it differs, and nodes that have changed. Pure.
//
//   fleet all;
//   for (const auto& one : read_acceptances(text, name, damage)) all.add(one);
//   const auto found = evaluate(all);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "src/results/comparison/acceptance.hpp"
#include "src/results/frame/figure.hpp"

namespace mgsync {

// One value of one run, small: a fleet has millions.
struct fleet_value {
  static constexpr std::int16_t all_gpus = -2;
  std::uint32_t kind = 0;                // what is measured: fleet::kinds
  std::int16_t first = -1, second = -1;  // the GPUs of one or of a pair; first may be all_gpus
  float log_us = 0;
};

struct fleet_run {
  std::string node, started, sentence, against;
  std::vector<std::string> gpus;
  node_verdict_kind verdict = node_verdict_kind::cannot_be_told;
  std::vector<fleet_value> values;
  std::string day() const { return started.substr(0, 10); }
};

class fleet {
 public:
  void add(const acceptance&);

  struct kind {  // points that may be held against one another
    std::string machine, subject, shape;
    int together = 0;
    bool operator<(const kind& o) const {
      return std::tie(machine, subject, shape, together) <
             std::tie(o.machine, o.subject, o.shape, o.together);
    }
  };
  const std::vector<kind>& kinds() const { return kinds_; }
  // What a kind was held against, by its latest acceptance; and the worst of all: how many times the
  // reference it took, and the least that it might take. All 0: they had no reference.
  struct against {
    double reference_us = 0, most_times = 0, least_limit = 0;
  };
  const std::vector<against>& references() const { return references_; }
  const std::vector<fleet_run>& runs() const { return runs_; }

 private:
  std::vector<kind> kinds_;
  std::vector<against> references_;  // of each kind
  std::map<kind, std::uint32_t> places_;
  std::vector<fleet_run> runs_;
};

// A node on the map: its latest run.
struct fleet_cell {
  std::string node, tip;
  node_verdict_kind verdict = node_verdict_kind::cannot_be_told;
  bool outlier = false;
  double times = 1;  // the median of its points over the fleet's
};

struct fleet_findings {
  evaluation shown;               // sentences, tables, trends over the days
  std::vector<fleet_cell> cells;  // by name, numbers in their order
  bool any_outlier = false;
};
fleet_findings evaluate(const fleet&);

}  // namespace mgsync
