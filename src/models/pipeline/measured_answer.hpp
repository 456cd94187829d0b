// Which of the kernels that were compiled and measured on a machine is best for a product, how long it takes,
// how far off such predictions were, and why one is faster than another.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/models/pipeline/machine.hpp"

namespace mgsync::pipeline {

// Which configurations are considered; an empty list: all.
struct considered {
  std::vector<std::string> kernels{};
  std::vector<extent> tiles{};
  std::vector<int> buffers{}, producers{}, consumers{};
};

// A kernel with as many buffers as are best for the product.
struct measured_choice {
  const tile_profile* kernel = nullptr;  // of the machine
  launch_form form;
  product_time time;  // never less than the hardware's ceiling; what was added is in `ends`
  bool held = false;  // something was added
};

struct measured_question {
  extent size;
  const machine& on;  // must outlive the answer
  considered of{};
};

struct measured_answer {
  std::vector<measured_choice> ranked;  // the fastest first; empty: nothing fits
  const known_error* error = nullptr;   // of products like this with the best kernel; nullptr: unknown
  bool error_is_of_smaller = false;     // no product as large was measured
  int searched = 0;                     // kernels and numbers of buffers
  std::vector<std::pair<const tile_profile*, std::string>>
      left_out;          // whose registers do not suffice, and why
  double padded_ns = 0;  // what it takes with k up to a multiple of 64; 0: where rows begin does not matter
  timeline schedule;     // of the most loaded SM, in ns; the first stages of a long one
};

// The sum of its tiles' areas that the product fills, and the SMs' share of time in which they have a tile.
double filled_share(extent size, extent tile);
double busy_share(extent size, extent tile, int sms);

// Why the second takes longer than the first, by the part that differs most: "stages +3.1 us: ...".
std::string difference(const measured_question&, const measured_choice& best, const measured_choice& other);

// Throws usage_error where no kernel of the machine is among the considered ones.
measured_answer answer(const measured_question&);

std::string to_text(const measured_question&, const measured_answer&);
// A JSON object, schema "mgsync-gemm/1", and rows of the ranked kernels (docs/results.md).
nlohmann::ordered_json to_document(const measured_question&, const measured_answer&);
std::string to_csv(const measured_question&, const measured_answer&);

}  // namespace mgsync::pipeline
