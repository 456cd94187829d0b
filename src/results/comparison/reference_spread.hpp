// What a reference knows of each point: its latency, and how much that differs from one process to another.
// From these follows how slow a point may be on a node before the node is not normal.
//
//   const reference_spread known(documents);         // of machines of one kind, each document a process
//   if (const auto* one = known.find(r.point)) limit_of(*one, 12);  // 1.083: at most 8.3 % above one->centre
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/results/files/json_document.hpp"

namespace mgsync {

struct reference_point {
  mgsync::point point;  // its placement and group are those of the first result
  metric_name measured;
  std::optional<known_facts> facts;
  std::vector<double> processes;  // a median each
  double centre = 0;              // their geometric mean
  double deviation = 0;           // of the logarithm of a process's median
  double freedom = 0;             // degrees of freedom of `deviation`
};

// The deviation between processes that is assumed before any is seen, and how many processes it weighs as
// much as: what a quarter of the committed results of that kind exceeds. The host's part in what it drives
// differs far more from node to node than a kernel does.
inline constexpr double assumed_deviation = 0.02, assumed_deviation_of_the_host = 0.15;
inline constexpr double assumed_weight = 4;
// How often a normal node may be taken for one that is not.
inline constexpr double false_alarms = 0.01;

class reference_spread {
 public:
  // Takes points whose first metric is a time, that passed their check and have no doubts. The members' ids
  // and where they are do not count: GPUs of one node are alike.
  explicit reference_spread(std::span<const json_document>);

  const std::vector<reference_point>& points() const { return points_; }
  // Every value that it takes or, as that has doubts, leaves out.
  struct seen_value {
    mgsync::point point;
    std::vector<doubt> doubts;
  };
  const std::vector<seen_value>& seen() const { return seen_; }
  // Those that it would take, but for the single batch that they are of: nothing says how uncertain they are.
  const std::vector<mgsync::point>& of_one_batch() const { return of_one_batch_; }
  const reference_point* find(const point&) const;  // nullptr: the reference has no such point

 private:
  std::vector<reference_point> points_;  // in the order of the documents
  std::map<std::string, std::size_t> places_;
  std::vector<seen_value> seen_;
  std::vector<mgsync::point> of_one_batch_;
};

// Which of its values for a node of so many members were left out, and why: "84 of 126 points mean little:
// ..."; empty: none was.
std::string left_out(const reference_spread&, topology::device, int members);

// How many of the points of a node, of any members, are of one batch only.
std::size_t count_of_one_batch(const reference_spread&, topology::device);

// The most host members that it has, and that fit on so many CPUs. Those that mean little count, as fewer
// members say nothing of the node in their place.
int most_host_members(const reference_spread&, std::size_t cpus);

// How many times the centre a point may take where so many are judged together: what a further process of a
// normal node exceeds, by Student's t, in one of false_alarms / judged cases.
double limit_of(const reference_point&, std::size_t judged);

}  // namespace mgsync
