// A fleet judged: what is usual of each kind of point, which nodes, GPUs and pairs lie beyond it, and which
// nodes drift. fleet_tables.cpp tells it. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "src/results/comparison/drift.hpp"
#include "src/results/comparison/fleet.hpp"

namespace mgsync {

inline constexpr std::size_t values_of_a_day = 20;  // from which a day has a median of its own

// What the fleet has of one kind of point.
struct usual_of_kind {
  double centre = 0, limit = 0;  // of logarithms
  std::size_t values = 0;
  std::map<std::string, double> of_day;  // the centre of that day
  double at(const std::string& day) const {
    const auto found = of_day.find(day);
    return found == of_day.end() ? centre : found->second;
  }
};

struct fleet_outlier {
  std::string node;
  suspect what;                   // of its worst run
  std::vector<std::size_t> runs;  // in which it was slow
};

struct day_of_fleet {
  std::size_t runs = 0, normal = 0;
  std::map<int, std::vector<double>> off;  // by how many GPUs are together: 1, 2, more
};

class fleet_analysis {
 public:
  explicit fleet_analysis(const fleet&);

  // Each node's runs in time.
  const std::map<std::string, std::vector<std::size_t>>& by_node() const { return by_node_; }
  const std::vector<usual_of_kind>& usual() const { return usual_; }        // of each kind
  const std::vector<fleet_outlier>& outliers() const { return outliers_; }  // the worst first
  const std::vector<drift>& drifts() const { return drifts_; }              // the largest first

  // The median of a run's points over the fleet's of that day.
  double times_of(const fleet_run&) const;
  std::map<std::string, day_of_fleet> days() const;

 private:
  void find_latest();
  void find_usual();
  void find_drifts();
  judged_point judged(const fleet_value&, const std::string& day) const;
  void judge_run(std::size_t);

  const fleet& all_;
  std::map<std::string, std::vector<std::size_t>> by_node_;
  std::vector<usual_of_kind> usual_;
  std::vector<fleet_outlier> outliers_;
  std::vector<drift> drifts_;
};

}  // namespace mgsync
