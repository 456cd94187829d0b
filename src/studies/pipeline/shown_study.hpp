// What a measured study says, in sentences, tables and pictures: how far the model is off, which tile it
// chooses, what the semaphores cost, and the simulated stages over the recorded ones.
#pragma once

#include <string>

#include "src/results/figure.hpp"
#include "src/studies/pipeline/evaluation.hpp"

namespace mgsync::pipeline {

// Adds to `e`. `machine` tells several apart and goes into the names; empty: there is one.
void show(const measured_study&, const std::string& machine, evaluation& e);

// The stages of one recorded run, and beneath each agent what the simulator makes of it with these costs.
mgsync::timeline simulated_over_measured(std::span<const stamp_row> one_timeline, const semaphore_costs&);

}  // namespace mgsync::pipeline
