// What is measured row by row, as plain values and as CSV, so that everything after measuring runs anywhere.
// A row without a time is a setting to be measured.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/studies/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

// Of the machine: "# key=value" lines before the header.
struct machine_facts {
  std::string name{};
  int sms = 1;
  int shared_bytes = 49152;                     // that a block may ask for
  std::map<std::string, std::string> others{};  // "driver", "runtime": to be read by people
};

struct product_row {
  std::string family;
  int instance = 0;
  extent tile;
  int consumers = 1;
  int math_warps = 4;
  int buffers = 1;
  int producers = 1;
  int blocks = 1;
  extent size;
  bool loads = true, math = true, epilogue = true;
  std::string set;  // "launch", "stage", "epilogue", "wave": calibration; the others: whole products
                    // (kernel_rows.hpp)
  double median_ns = 0;
  double min_ns = 0;
  std::vector<double> raw_ns{};  // what those are of, in the order of measuring; empty in files of before
};

struct synthetic_row {
  std::string semaphore;
  int producers = 1;
  int buffers = 1;
  int stages = 1;
  double load_a_cycles = 0, load_b_cycles = 0, math_cycles = 0;
  std::string set;  // "calibration", "held-out"
  double median_cycles = 0;
  std::vector<double> raw_cycles{};
};

// One event of a measured timeline of the synthetic kernel.
struct stamp_row {
  int timeline = 0;
  std::string semaphore;
  int producers = 1;
  int buffers = 1;
  int stages = 1;
  int agent = 0;
  char what = 'm';
  int stage = 0;
  double begin = 0, end = 0;
  double load_a_cycles = 0, load_b_cycles = 0, math_cycles = 0;  // that were asked for
};

template <class Row>
struct measured {
  machine_facts facts;
  std::vector<Row> rows;
};

// The same with a header and the facts before it.
std::string to_csv(std::span<const product_row>, const machine_facts&);
std::string to_csv(std::span<const synthetic_row>, const machine_facts&);
std::string to_csv(std::span<const stamp_row>, const machine_facts&);

// A row's figures from one value of each batch.
void set_times(product_row&, std::vector<double> raw_ns);
void set_times(synthetic_row&, std::vector<double> raw_cycles);

// Columns are found by their names; columns that nobody knows are skipped. Throws usage_error naming
// `source`, the line and what is wrong with it.
measured<product_row> read_product_rows(std::string_view csv, std::string_view source);
measured<synthetic_row> read_synthetic_rows(std::string_view csv, std::string_view source);
measured<stamp_row> read_stamp_rows(std::string_view csv, std::string_view source);

}  // namespace mgsync::pipeline
