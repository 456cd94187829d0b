// Answers the paper's question in words: which configuration is best for C = A B, how long it takes, and why.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/models/pipeline/search.hpp"

namespace mgsync::pipeline {

inline constexpr std::string_view accepted_extents = "1x1x1 to 1048576x1048576x1048576";
// "MxNxK" with three positive numbers up to 1048576; usage_error names what is accepted.
extent read_extent(std::string_view text, std::string_view option = "gemm",
                   std::string_view accepted = accepted_extents);

struct gemm_question {
  extent size;
  machine on;
  search_space space;
  std::optional<std::chrono::milliseconds> solver_limit{};  // nothing: the solver is not run
};

struct gemm_answer {
  search_answer best;                   // of brute force, which always answers
  std::optional<search_answer> solver;  // Z3's, where it was run and its encoding describes the machine
  bool agree = true;                    // the two, where the solver found an optimum
  std::string binds;                    // which resource would help most if it were twice as good
  std::vector<relaxation> why;          // all resources that were tried, the most helpful first
  std::int64_t output_tiles = 0;
  int waves = 0;
  int stages = 0;
  double steady_ns = 0;                                    // from stage to stage
  double loading_ns = 0, multiplying_ns = 0, loop_ns = 0;  // the longest of these is the period
  double tflops = 0;
  std::string impossible;             // why no such machine can exist; empty: it may
  std::vector<std::string> warnings;  // the machine's peaks that the answer exceeds
  timeline schedule;                  // of the most loaded SM, in ns; the first stages of a long one
};

gemm_answer answer(const gemm_question&);

// The schedule of up to two output tiles of an SM; of a tile with too many stages to draw, only the first
// stages, which do not depend on the later ones.
timeline first_stages(const sm_work&, const arrangement&);

// What `mgsync study pipeline --gemm` prints, ending with a newline.
std::string to_text(const gemm_question&, const gemm_answer&);

// The same for scripts: a JSON object, schema "mgsync-gemm/1", and a row of CSV (docs/results.md).
nlohmann::ordered_json to_document(const gemm_question&, const gemm_answer&);
std::string to_csv(const gemm_question&, const gemm_answer&);

}  // namespace mgsync::pipeline
