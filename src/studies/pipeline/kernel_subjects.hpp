// The study's kernels as subjects, on one GPU.
#pragma once

#include <memory>

#include "src/harness/study.hpp"
#include "src/studies/pipeline/kernel_checkers.hpp"
#include "src/studies/pipeline/kernel_rows.hpp"

namespace mgsync::pipeline {

// Makes the subject and, the first time, its plan. A timing run yields "time_ns" of the row that it is asked
// for, the mean over several launches; a checking run checks a product and yields its "error".
subject_creation make_product(const product_choice&, const held_out_sizes&, int gpu,
                              std::shared_ptr<kernel_plan>);

// The synthetic kernel as a subject. A timing run yields "cycles"; a checking run carries its stamp_rows.
subject_creation make_synthetic(std::size_t which, int held_out, int gpu, std::shared_ptr<kernel_plan>);

}  // namespace mgsync::pipeline
