// What the model answers without measuring anything: `mgsync study pipeline --gemm`, `--attention` and
// `--machine`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/harness/study.hpp"
#include "src/models/pipeline/measured_answer.hpp"

namespace mgsync::pipeline {

// What one stage of attention takes, in ns, as typed.
struct attention_ns {
  double load = 0, product_qk = 0, softmax = 0, product_pv = 0;
  bool operator==(const attention_ns&) const = default;
};

// What was asked for, as values.
struct model_request {
  std::optional<extent> size{};         // none: the machine's file is asked for
  std::vector<std::string> machines{};  // "h200", "paper", or files
  considered of{};                      // lists are empty where nothing was typed
  bool all_tiles = false;
  bool solver = false;
  std::string skeleton{};  // a file; empty: none
  std::optional<attention_ns> attention{};
  std::optional<int> stages{};  // of attention
};

// Throws usage_error for what does not go together.
study_answer answer_to(const model_request&);

}  // namespace mgsync::pipeline
