// Measured rows as plain values and as CSV, so that everything after measuring runs on any machine. A row
// without a time is a setting to be measured.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/fields.hpp"
#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync::pipeline {

// Facts about the machine, written as "# key=value" lines before the header.
struct machine_facts {
  std::string name{};
  int sms = 1;
  int shared_bytes = 49152;                     // what a block may use
  std::map<std::string, std::string> others{};  // "driver", "runtime": for people to read
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
  std::string set;  // "launch", "stage", and so on: calibration; the others: whole products (kernel_rows.hpp)
  double median_ns = 0;
  double min_ns = 0;
  std::vector<double> raw_ns{};  // one per batch, in the order of measuring; empty in old files
  int registers = 0;             // of a thread, as compiled; 0: unknown
  int spilled_bytes = 0;         // of local memory, for a thread
};
void fields(auto& way, product_row& r) {
  way.needs("family", r.family);
  way.needs("instance", r.instance);
  way.needs("tm", r.tile.m);
  way.needs("tn", r.tile.n);
  way.needs("tk", r.tile.k);
  way.needs("consumers", r.consumers);
  way.needs("math_warps", r.math_warps);
  way.needs("buffers", r.buffers);
  way.needs("producers", r.producers);
  way.needs("blocks", r.blocks);
  way.needs("m", r.size.m);
  way.needs("n", r.size.n);
  way.needs("k", r.size.k);
  way.needs("loads", r.loads);
  way.needs("math", r.math);
  way.needs("epilogue", r.epilogue);
  way.needs("set", r.set);
  way.needs("median_ns", r.median_ns);
  way.needs("min_ns", r.min_ns);
  way.may("raw_ns", r.raw_ns);
  way.may("registers", r.registers);
  way.may("spilled_bytes", r.spilled_bytes);
}

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
void fields(auto& way, synthetic_row& r) {
  way.needs("semaphore", r.semaphore);
  way.needs("producers", r.producers);
  way.needs("buffers", r.buffers);
  way.needs("stages", r.stages);
  way.needs("load_a_cycles", r.load_a_cycles);
  way.needs("load_b_cycles", r.load_b_cycles);
  way.needs("math_cycles", r.math_cycles);
  way.needs("set", r.set);
  way.needs("median_cycles", r.median_cycles);
  way.may("raw_cycles", r.raw_cycles);
}

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
  double load_a_cycles = 0, load_b_cycles = 0, math_cycles = 0;  // the times that were asked for
};
void fields(auto& way, stamp_row& r) {
  way.needs("timeline", r.timeline);
  way.needs("semaphore", r.semaphore);
  way.needs("producers", r.producers);
  way.needs("buffers", r.buffers);
  way.needs("stages", r.stages);
  way.may("load_a_cycles", r.load_a_cycles);
  way.may("load_b_cycles", r.load_b_cycles);
  way.may("math_cycles", r.math_cycles);
  way.needs("agent", r.agent);
  way.needs("what", r.what);
  way.needs("stage", r.stage);
  way.needs("begin", r.begin);
  way.needs("end", r.end);
}

// What one block of a product did when, by its SM's cycle counter: a load of a stage's A and B from when it
// was asked for until it arrived, a stage multiplied, an output tile stored.
struct recorded_row {
  std::string family;
  int instance = 0;
  extent tile;
  int buffers = 1;
  int blocks = 1;
  extent size;
  std::string what;  // "load", "multiply", "store"
  int output_tile = 0;
  int stage = 0;  // of all stages of the block
  double begin = 0, end = 0;
};
void fields(auto& way, recorded_row& r) {
  way.needs("family", r.family);
  way.needs("instance", r.instance);
  way.needs("tm", r.tile.m);
  way.needs("tn", r.tile.n);
  way.needs("tk", r.tile.k);
  way.needs("buffers", r.buffers);
  way.needs("blocks", r.blocks);
  way.needs("m", r.size.m);
  way.needs("n", r.size.n);
  way.needs("k", r.size.k);
  way.needs("what", r.what);
  way.needs("output_tile", r.output_tile);
  way.needs("stage", r.stage);
  way.needs("begin", r.begin);
  way.needs("end", r.end);
}

template <class Row>
struct measured {
  machine_facts facts;
  std::vector<Row> rows;
};

// Writes the rows as CSV, after the facts and a header of field names; numbers have one decimal.
template <class Row>
std::string to_csv(std::span<const Row>, const machine_facts&);

// Sets a row's times and their statistics from one value per batch.
void set_times(product_row&, std::vector<double> raw_ns);
void set_times(synthetic_row&, std::vector<double> raw_cycles);

// Reads CSV. Columns are found by name, and unknown ones are skipped. Throws usage_error, which names
// `source`, the line and what is wrong with it.
template <class Row>
measured<Row> read_rows(std::string_view csv, std::string_view source);

}  // namespace mgsync::pipeline
