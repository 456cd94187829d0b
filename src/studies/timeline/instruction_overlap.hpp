// How instructions overlap, from cycles between two clock reads (paper 002): independent loads side by side,
// two different instructions, and a region against its parts. Pure.
#pragma once

#include <span>

namespace mgsync::timelines {

// k independent loads take L + (k - 1) x interval cycles: L is the latency of one load, the interval is how
// many cycles apart loads can be issued.
struct load_overlap {
  double latency = 0;
  double interval = 0;
  double residual = 0;  // the largest distance of a point from the line
};
struct loads_point {
  double loads = 1;
  double cycles = 0;
};
// Least squares; std::invalid_argument with fewer than two different numbers of loads.
load_overlap overlap_of_loads(std::span<const loads_point>);

// How well two instructions overlap: 1 - (T(ab) - max(T(a), T(b))) / min(T(a), T(b)). 1: the shorter one
// costs nothing beside the other; 0: they run one after the other; below 0: they slow each other down.
// std::invalid_argument unless both single times are above 0.
double overlap_of_pair(double a_cycles, double b_cycles, double both_cycles);

// Cycles of the region of paper 002 and of its parts. The parts are slopes of chains, which contain no clock
// reads. What the two clock reads add is found from a load: its time between two reads minus its slope.
struct region_cycles {
  double store_and_load = 0, barrier = 0, load = 0;  // per link of a chain; barrier: of all its warps
  double load_once = 0;
  double nothing = 0;  // between two reads with nothing between them
  double corrected = 0;
  double as_compiled = 0;
  double reads() const { return load_once - load; }
};
struct region_judgement {
  double sum_of_parts = 0;  // store and load, barrier, reads
  double corrected_less_sum = 0;
  double as_compiled_less_sum = 0;
  bool is_the_sum = false;     // within 4 cycles
  bool twin_misleads = false;  // the twin is off by 100 cycles or more
};
region_judgement judge(const region_cycles&);

}  // namespace mgsync::timelines
