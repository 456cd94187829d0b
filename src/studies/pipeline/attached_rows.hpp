// The study's measured rows, read back from the attachments of results.
#pragma once

#include <map>
#include <span>
#include <string>

#include "src/harness/study.hpp"
#include "src/studies/pipeline/evaluation.hpp"

namespace mgsync::pipeline {

// Collects the rows of each machine, by its name.
std::map<std::string, measured_study> studies_in(std::span<const result>);

evaluation evaluate_results(std::span<const result>);

}  // namespace mgsync::pipeline
