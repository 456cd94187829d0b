// One configuration of a matrix product as a CUDA program of its own: `mgsync study pipeline --skeleton`.
#pragma once

#include <string>

#include "src/models/pipeline/machine.hpp"

namespace mgsync::pipeline {

struct skeleton_of {
  extent size;
  const tile_profile& kernel;  // compiled, and measured on `on`
  int buffers = 2;
  double foretold_us = 0;
  const machine& on;
  bool by_lines = false;  // foretold by lines over the tiles
};

// The program's text: the study's kernel with these constants, a check, a clock and main(). Throws
// usage_error where this mgsync compiles no such kernel.
std::string skeleton(const skeleton_of&);

}  // namespace mgsync::pipeline
