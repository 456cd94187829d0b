// What the model needs to know of a machine: measured (calibration.hpp), read from a file, or the paper's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "src/base/fields.hpp"
#include "src/models/pipeline/measured_tile.hpp"
#include "src/models/pipeline/pipeline_model.hpp"

namespace mgsync {
class json_text;
}

namespace mgsync::pipeline {

// A time that is linear in the amount of work: startup + work / rate, as in eqs. 4 to 7.
struct cost_line {
  double startup_ns = 0;
  double per_ns = 0;  // units of work per ns; 0: the work costs nothing
  double ns(double work) const { return startup_ns + (per_ns > 0 ? work / per_ns : 0); }
  bool operator==(const cost_line&) const = default;
};
void fields(auto& way, cost_line& l) {
  way.may("startup_ns", l.startup_ns);
  way.may("bytes_per_ns", l.per_ns);
}

enum class work_unit {
  bytes,
  multiply_adds
};  // what the time of a multiplication is proportional to; the paper takes bytes

struct machine {
  std::string name;
  int sms = 1;
  std::int64_t shared_bytes = 0;  // shared memory of one block that its buffers may use
  std::int64_t accumulator_bytes =
      0;  // of one block's registers, for its consumers' tiles of C in 32 bits; 0: no limit
  int element_bytes = 2;
  int producers = 1;        // load side by side: 1 serial, 2 parallel
  bool persistent = false;  // whether blocks stay for all their output tiles
  double launch_ns = 0;     // T_0
  cost_line dma;            // of one load, in bytes, of one SM alone: how long its engine is busy
  double dma_latency_ns =
      0;  // how much longer until the data can be used; 0: one load in flight, as in the paper
  double chip_bytes_per_ns = 0;  // what all SMs together can load; 0: no limit
  work_unit math_work = work_unit::bytes;
  cost_line math;
  double math_peak_per_ns = 0;  // upper bound of the rate for any tile; 0: only the line
  cost_line epilogue;           // of one output tile, in bytes of C; the paper's is a constant
  int output_bytes = 4;         // of one element of C
  double query_ns = 0;
  double handover_ns = 0;
  double peak_tflops = 0;                // the hardware's peak, by its maker; 0: unknown
  double memory_bytes_per_ns = 0;        // the peak of its memory, by its maker; 0: unknown
  std::int64_t l2_bytes = 0;             // how much of the operands may lie in L2
  std::string from;                      // where this was measured: file, date, commit
  std::vector<std::string> assumptions;  // what was not measured
  std::vector<known_error> errors;       // of predictions with the tiles
  std::vector<tile_profile> tiles;       // kernels that were compiled and measured there
  bool operator==(const machine&) const = default;
};

// A multiplication's line as a machine file has it; the rate that is given says what the time is proportional
// to.
struct math_line {
  double startup_ns = 0;
  std::optional<double> bytes_per_ns{}, multiply_adds_per_ns{};
};
void fields(auto& way, math_line& l) {
  way.may("startup_ns", l.startup_ns);
  way("bytes_per_ns", l.bytes_per_ns);
  way("multiply_adds_per_ns", l.multiply_adds_per_ns);
}
math_line math_told(const machine&);
machine with_math(machine, const math_line&, json_text& place);

void fields(auto& way, machine& m) {
  way.may("name", m.name);
  way.needs("sms", m.sms);
  way.needs("shared_bytes", m.shared_bytes);
  way.may("accumulator_bytes", m.accumulator_bytes);
  way.needs("element_bytes", m.element_bytes);
  way.may("producers", m.producers);
  way.may("persistent", m.persistent);
  way.needs("launch_ns", m.launch_ns);
  way.needs("dma", m.dma);
  way.may("dma_latency_ns", m.dma_latency_ns);
  way.may("chip_bytes_per_ns", m.chip_bytes_per_ns);
  way.needs("math", told_as{m, math_told,
                            [&m](const math_line& l, json_text& place) { return with_math(m, l, place); }});
  way.may("math_peak_per_ns", m.math_peak_per_ns);
  way.needs("epilogue", m.epilogue);
  way.may("output_bytes", m.output_bytes);
  way.may("query_ns", m.query_ns);
  way.may("handover_ns", m.handover_ns);
  way.may("peak_tflops", m.peak_tflops);
  way.may("memory_bytes_per_ns", m.memory_bytes_per_ns);
  way.may("l2_bytes", m.l2_bytes);
  way.may("from", m.from);
  way.may("assumptions", m.assumptions);
  way("errors", m.errors);
  way("tiles", m.tiles);
}

// The paper's RTX A6000 (section 4.2): throughputs as printed, per ms; values missing in the paper are
// assumed, and listed. No such machine can exist: see impossible().
machine rtx_a6000();

// One H200 with the kernels that were measured on it: h200.json, which is what `mgsync study pipeline
// --machine h200x1/pipeline-wgmma.json.xz,h200x1/pipeline-mma.json.xz` prints in docs/results.
const machine& h200();

// What its maker states of a GPU, looked up by the name that the driver gives; zeros for GPUs that are not
// listed here.
struct hardware_peaks {
  double tflops = 0;        // halves in, 32-bit sums, no sparsity
  double bytes_per_ns = 0;  // of its memory
  std::int64_t l2_bytes = 0;
};
hardware_peaks peaks_of(std::string_view gpu);

// What `--machine` accepts, for messages.
inline constexpr std::string_view machine_files =
    "h200, paper, a machine file, or results of `mgsync study pipeline`";

// Conversion from and to JSON. Reading throws usage_error, which names `source` and the key that is missing,
// unknown or impossible.
machine read_machine(std::string_view json, std::string_view source);
nlohmann::ordered_json to_json(const machine&);
std::string write_machine(const machine&);

// The times of one stage of `tile`, while `active` SMs load.
stage_times times_on(const machine&, extent tile, int active);

// The work of the most loaded SM. All SMs are active except in the last wave, where some may be idle. Throws
// usage_error where the time would overflow ticks.
sm_work work_on(const machine&, extent size, extent tile);

// The same work with an entry for each output tile.
std::vector<stage_times> waves_on(const machine&, extent size, extent tile);

// The rate in TFLOP/s when all SMs do nothing but multiply such tiles.
double multiplying_tflops(const machine&, extent tile);

// The least time in ns that a product can take on such hardware, by its maker's peaks of multiplying and of
// memory; 0 where none is known.
double ceiling_ns(const machine&, extent size);

// Why no such machine can exist: its SMs would multiply one of these tiles faster than the hardware's peak.
// Empty where it can, or where no peak is known.
std::string impossible(const machine&, const std::vector<extent>& tiles);

// The machine's peaks that a product of this size would exceed if it took `total`, a sentence each.
std::vector<std::string> beyond_peaks(const machine&, extent size, ticks total);

// The shared memory of the buffers and the registers of the consumers, in bytes.
std::int64_t buffer_bytes(const machine&, const configuration&);
std::int64_t accumulator_bytes(const configuration&);
bool fits(const machine&, const configuration&);

}  // namespace mgsync::pipeline
