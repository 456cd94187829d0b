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

// The name of a kernel in tables: "mma, 2 producers".
std::string kernel_name(const std::string& family, int producers);

// A timeline of one recorded run; beneath each agent stands the simulation with these costs.
mgsync::timeline simulated_over_measured(std::span<const stamp_row> one_timeline, const semaphore_costs&);

}  // namespace mgsync::pipeline
