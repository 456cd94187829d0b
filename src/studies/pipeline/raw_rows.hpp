// The study's measured rows, read back and shown: predictions against measurements, and the measured timelines.
#pragma once

#include <span>
#include <string_view>

#include "src/harness/study.hpp"

namespace mgsync::pipeline {

bool knows_rows(std::string_view text);
raw_evaluation evaluate_rows(std::span<const raw_file>);

}  // namespace mgsync::pipeline
