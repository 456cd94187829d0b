// Presents a measured study in sentences, tables and figures: how far the model is off, which tile it
// chooses, what the semaphores cost, and the simulated stages over the recorded ones.
#pragma once

#include <map>
#include <string>

#include "src/results/frame/figure.hpp"
#include "src/studies/pipeline/evaluation.hpp"

namespace mgsync::pipeline {

// Adds the study to `e`. `machine` goes into the names, to tell several machines apart; empty: there is only
// one.
void show(const measured_study&, const std::string& machine, evaluation& e);

// Adds the products of the paper's table 2 that are among those measured.
void add_paper_products(const measured_study&, const std::map<profile_key, tile_profile>&,
                        const std::string& name, evaluation& e);

// How kernels and kinds of products are called.
std::string kernel_name(const std::string& family, int producers);
std::string set_name(const std::string& set);

// Which of four models tells the time of products that none of them saw; empty where there are none.
table claims_of(const measured_study&, const std::map<profile_key, tile_profile>&, figure_heading);
// Two of them, in ns: equations (1) to (3) of the paper in waves, each with its launch and epilogue, from
// loading and multiplying measured apart; and as many stages as the most loaded SM has, one after the other.
double paper_equations_ns(const product_row&, const tile_profile&, int sms);
double straight_line_ns(const product_row&, const tile_profile&, int sms);

// Of the fresh sizes, each measured with many configurations: how much longer than the fastest the answer to
// --gemm takes, and the best fixed one; and beside what cuBLAS takes. Empty where there are none.
table regret_of(const measured_study&, const std::map<profile_key, tile_profile>&, figure_heading);
table vendor_of(const measured_study&, figure_heading);

// A timeline of one recorded run; beneath each agent stands the simulation with these costs.
mgsync::timeline simulated_over_measured(std::span<const stamp_row> one_timeline, const semaphore_costs&);
// A timeline of a recorded product's first block: each buffer filled and multiplied, beneath it as simulated.
mgsync::timeline recorded_over_simulated(std::span<const recorded_row>, const tile_profile&,
                                         const machine_facts&);

}  // namespace mgsync::pipeline
