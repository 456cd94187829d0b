// The paper's question, answered in words: which configuration for C = A B, how long, and why.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "src/studies/pipeline/search.hpp"

namespace mgsync::pipeline {

// "MxNxK" with three positive numbers up to 1048576; usage_error names what is accepted.
extent read_extent(std::string_view text, std::string_view option = "gemm", std::string_view accepted = "MxNxK, each from 1 to 1048576, as 1024x1024x512");

struct gemm_question {
  extent size;
  machine on;
  search_space space;
  std::chrono::milliseconds solver_limit{4000};
};

struct gemm_answer {
  search_answer best;                     // of brute force, which always answers
  std::optional<search_answer> solver;    // Z3's
  bool agree = true;                      // the two, where the solver found an optimum
  std::string binds;                      // what helps most where it is twice as good
  std::vector<relaxation> why;            // all that was tried, the most helpful first
  std::int64_t output_tiles = 0;
  int waves = 0;
  int stages = 0;
  double steady_ns = 0;                   // from stage to stage
  timeline schedule;                      // of the most loaded SM, in ns; the first output tiles of a long one
};

gemm_answer answer(const gemm_question&);

// What `mgsync study pipeline --gemm` prints, ending with a newline.
std::string to_text(const gemm_question&, const gemm_answer&);

}  // namespace mgsync::pipeline
