// The study's measured rows, read back from files of their own or from the attachments of results.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/harness/study.hpp"
#include "src/studies/pipeline/evaluation.hpp"

namespace mgsync::pipeline {

// Whether a text is such rows; of several texts those of one machine together, by its name.
bool knows_rows(std::string_view text);
std::map<std::string, measured_study> read_studies(std::span<const raw_file>);
std::map<std::string, measured_study> studies_in(std::span<const result>);

raw_evaluation evaluate_rows(std::span<const raw_file>);
evaluation evaluate_results(std::span<const result>);

}  // namespace mgsync::pipeline
