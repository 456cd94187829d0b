#include "src/models/pipeline/machine.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/json_fields.hpp"

extern const unsigned char mgsync_h200_machine[];  // made by cmake/embed.cmake; ends with a zero

namespace mgsync::pipeline {

namespace {

constexpr double longest_stage_ns = 1e12;  // a quarter of an hour
constexpr double longest_ticks = 4e18;     // below the limit of 9e18 of 64 bits

ticks to_ticks(double ns) {
  if (!(ns <= longest_stage_ns))
    throw usage_error(fmt::format("--machine: one stage of a tile would take {:.3g} s on this machine; "
                                  "accepted: machines that take at most 1000 s for it",
                                  ns * 1e-9));
  return std::llround(ns * static_cast<double>(ticks_per_ns));
}

void check(const machine& m, std::string_view source) {
  constexpr std::int64_t largest = 1'000'000'000;
  const std::tuple<const char*, std::int64_t, std::int64_t> whole[] = {
      {"sms", m.sms, 1},
      {"shared_bytes", m.shared_bytes, 1},
      {"accumulator_bytes", m.accumulator_bytes, 0},
      {"element_bytes", m.element_bytes, 1},
      {"output_bytes", m.output_bytes, 1},
      {"l2_bytes", m.l2_bytes, 0}};
  for (const auto& [key, value, least] : whole)
    if (value < least || value > largest)
      throw usage_error(fmt::format("{}.{}: {}; accepted: whole numbers of at least {}, and at most {}",
                                    source, key, value, least, largest));
  if (m.producers < 1 || m.producers > 2)
    throw usage_error(fmt::format("{}.producers: {}; accepted: 1, 2", source, m.producers));
}

// The least traffic of memory in bytes: A and B are read once and C is written once, except for what the L2
// cache holds before and after.
double least_traffic(const machine& m, extent size) {
  const double rows = size.m, columns = size.n, cached = static_cast<double>(m.l2_bytes);
  const double in = (rows + columns) * size.k * m.element_bytes, out = rows * columns * m.output_bytes;
  return std::max(0.0, in - cached) + std::max(0.0, out - cached);
}

}  // namespace

machine rtx_a6000() {
  machine m;
  m.name = "RTX A6000 (paper 003)";
  m.sms = 84;
  m.shared_bytes = 99 * 1024;
  m.element_bytes = 2;
  m.producers = 1;
  m.launch_ns = 1680;
  m.dma = {500, 152.96};
  m.math = {0, 24610};
  const auto peaks = peaks_of("NVIDIA RTX A6000");
  m.peak_tflops = peaks.tflops;
  m.memory_bytes_per_ns = peaks.bytes_per_ns;
  m.l2_bytes = peaks.l2_bytes;
  m.from = "paper 003, section 4.2";
  m.assumptions = {
      "DMA startup of 500 ns: the paper's figure is lost",
      "launch of 1680 ns: what its table 2 adds once; launch and epilogue are lost",
      "no epilogue: the paper's figure is lost, and it decides no comparison between tiles of equally many "
      "waves",
      "throughputs per ms, where the paper prints per s",
      "elements of 2 bytes, 99 KiB of shared memory per block",
      "one load at a time (serial): the paper says that one DMA warp is active at a time",
  };
  return m;
}

const machine& h200() {
  static const machine m = read_machine(reinterpret_cast<const char*>(mgsync_h200_machine), "h200");
  return m;
}

hardware_peaks peaks_of(std::string_view gpu) {
  constexpr std::int64_t mib = 1 << 20;
  if (gpu == "NVIDIA H200") return {989.5, 4800, 50 * mib};
  if (gpu == "NVIDIA H100 80GB HBM3") return {989.5, 3350, 50 * mib};
  if (gpu == "NVIDIA A100-SXM4-80GB") return {312, 2039, 40 * mib};
  if (gpu == "NVIDIA RTX A6000") return {154.8, 768, 6 * mib};
  return {};
}

math_line math_told(const machine& m) {
  math_line told{m.math.startup_ns};
  (m.math_work == work_unit::bytes ? told.bytes_per_ns : told.multiply_adds_per_ns) = m.math.per_ns;
  return told;
}

machine with_math(machine m, const math_line& told, json_text& place) {
  if (told.bytes_per_ns && told.multiply_adds_per_ns)
    place.refuse("it has both bytes_per_ns and multiply_adds_per_ns");
  m.math_work = told.multiply_adds_per_ns ? work_unit::multiply_adds : work_unit::bytes;
  m.math = {told.startup_ns, told.multiply_adds_per_ns.value_or(told.bytes_per_ns.value_or(0))};
  return m;
}

machine read_machine(std::string_view text, std::string_view source) {
  machine m;
  try {
    read_json(text, source, m, {.knows_all_keys = true, .most = 1'000'000'000});
  } catch (const usage_error& error) {
    throw usage_error(fmt::format("{}; accepted: {}", error.what(), machine_files));
  }
  check(m, source);
  return m;
}

nlohmann::ordered_json to_json(const machine& m) { return mgsync::to_json(m, whole_doubles::with_a_point); }

// The tiles, which are long, stand on a line each.
std::string write_machine(const machine& m) {
  machine lines = m;
  lines.tiles.clear();
  std::string text = to_json(lines).dump(2);
  if (!m.tiles.empty()) {
    text.erase(text.size() - 2);
    text += ",\n  \"tiles\": [";
    for (const auto& tile : m.tiles)
      text += (&tile == &m.tiles.front() ? "\n    " : ",\n    ") + mgsync::to_json(tile).dump();
    text += "\n  ]\n}";
  }
  return text + "\n";
}

stage_times times_on(const machine& m, extent tile, int active) {
  const auto load = [&](std::int64_t elements) {
    const double bytes = static_cast<double>(elements * m.element_bytes);
    const double shared = m.chip_bytes_per_ns > 0 ? active * bytes / m.chip_bytes_per_ns : 0;
    const double busy = std::max(m.dma.ns(bytes), shared);
    return load_time{to_ticks(busy), to_ticks(busy + m.dma_latency_ns)};
  };
  const std::int64_t tm = tile.m, tn = tile.n, tk = tile.k;
  const double work = m.math_work == work_unit::bytes
                          ? static_cast<double>((tm * tk + tk * tn) * m.element_bytes)
                          : static_cast<double>(tm * tn * tk);
  return {load(tm * tk),
          load(tk * tn),
          to_ticks(std::max(m.math.ns(work), m.math_peak_per_ns > 0 ? work / m.math_peak_per_ns : 0)),
          to_ticks(m.epilogue.ns(static_cast<double>(tm * tn * m.output_bytes))),
          to_ticks(m.query_ns),
          to_ticks(m.handover_ns)};
}

sm_work work_on(const machine& m, extent size, extent tile) {
  const std::int64_t all = output_tiles(size, tile), count = waves(size, tile, m.sms);
  const sm_work work{times_on(m, tile, static_cast<int>(std::min<std::int64_t>(all, m.sms))),
                     times_on(m, tile, static_cast<int>(all - (count - 1) * m.sms)), count,
                     stages(size, tile)};
  // An upper bound: nothing overlaps.
  const auto one_by_one = [&](const stage_times& t) {
    const ticks stage = t.a.latency + t.b.latency + t.math + 2 * (t.query + t.handover);
    return static_cast<double>(work.stages) * static_cast<double>(stage) + static_cast<double>(t.epilogue);
  };
  const double most = m.launch_ns * ticks_per_ns +
                      static_cast<double>(count) * std::max(one_by_one(work.each), one_by_one(work.last));
  if (!(most < longest_ticks))
    throw usage_error(
        fmt::format("{} may take {:.3g} days on this machine; accepted: products of at most {:.0f} days",
                    text(size), most * 1e-12 / 86400, longest_ticks * 1e-12 / 86400));
  return work;
}

std::vector<stage_times> waves_on(const machine& m, extent size, extent tile) {
  const auto work = work_on(m, size, tile);
  std::vector<stage_times> times(static_cast<std::size_t>(work.tiles), work.each);
  times.back() = work.last;
  return times;
}

double multiplying_tflops(const machine& m, extent tile) {
  const double ns = static_cast<double>(times_on(m, tile, m.sms).math) / ticks_per_ns;
  return 2e-3 * tile.m * tile.n * tile.k / ns * m.sms;  // infinite where multiplying takes no time
}

std::string impossible(const machine& m, const std::vector<extent>& tiles) {
  if (m.peak_tflops <= 0) return "";
  const auto rate = [&](extent tile) { return multiplying_tflops(m, tile); };
  const auto fastest = std::ranges::max_element(tiles, {}, rate);
  if (fastest == tiles.end() || rate(*fastest) <= m.peak_tflops) return "";
  return fmt::format(
      "its {} SMs would multiply tiles {} at {:.0f} TFLOP/s, {:.3g} times the peak of {} TFLOP/s", m.sms,
      text(*fastest), rate(*fastest), rate(*fastest) / m.peak_tflops, m.peak_tflops);
}

double ceiling_ns(const machine& m, extent size) {
  return std::max(m.peak_tflops > 0 ? 2e-3 * size.m * size.n * size.k / m.peak_tflops : 0,
                  m.memory_bytes_per_ns > 0 ? least_traffic(m, size) / m.memory_bytes_per_ns : 0);
}

std::vector<std::string> beyond_peaks(const machine& m, extent size, ticks total) {
  std::vector<std::string> found;
  const double ns = static_cast<double>(total) / ticks_per_ns;
  const double tflops = 2e-3 * size.m * size.n * size.k / ns;
  if (m.peak_tflops > 0 && tflops > m.peak_tflops)
    found.push_back(
        fmt::format("{:.2f} TFLOP/s are more than the hardware's peak of {}: no such time is possible",
                    tflops, m.peak_tflops));
  const double rate = least_traffic(m, size) / ns;
  if (m.memory_bytes_per_ns > 0 && rate > m.memory_bytes_per_ns)
    found.push_back(fmt::format("A, B and C alone would pass through memory at {:.0f} GB/s, more than the "
                                "hardware's peak of {}: no such time is possible",
                                rate, m.memory_bytes_per_ns));
  return found;
}

std::int64_t buffer_bytes(const machine& m, const configuration& c) {
  const std::int64_t elements =
      static_cast<std::int64_t>(c.tile.m) * c.tile.k + static_cast<std::int64_t>(c.tile.k) * c.tile.n;
  return elements * m.element_bytes * c.warps.buffers;
}

std::int64_t accumulator_bytes(const configuration& c) {
  return static_cast<std::int64_t>(c.tile.m) * c.tile.n * 4 * c.warps.consumers;
}

bool fits(const machine& m, const configuration& c) {
  return buffer_bytes(m, c) <= m.shared_bytes &&
         (m.accumulator_bytes == 0 || accumulator_bytes(c) <= m.accumulator_bytes);
}

}  // namespace mgsync::pipeline
