#include "src/studies/pipeline/machine.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"

namespace mgsync::pipeline {

namespace {

using json = nlohmann::ordered_json;

ticks to_ticks(double ns) { return std::llround(ns * static_cast<double>(ticks_per_ns)); }

json to_json(const cost_line& line, const char* rate) { return {{"startup_ns", line.startup_ns}, {rate, line.per_ns}}; }

// Reads the keys of one object and in the end complains about those that nobody asked for.
class object_reader {
 public:
  object_reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw usage_error(fmt::format("{} is not a JSON object; accepted: {}", where_, machine_files));
  }

  double number(const char* key, double least, std::optional<double> otherwise = std::nullopt) {
    known_.emplace_back(key);
    if (!object_.contains(key)) {
      if (otherwise) return *otherwise;
      throw usage_error(fmt::format("{} lacks \"{}\"; accepted: {}", where_, key, machine_files));
    }
    const json& value = object_.at(key);
    if (!value.is_number() || value.get<double>() < least)
      throw usage_error(fmt::format("{}: \"{}\" is {}; a number of at least {} is wanted", where_, key, value.dump(), least));
    return value.get<double>();
  }

  int whole(const char* key, int least, std::optional<double> otherwise = std::nullopt) {
    const double value = number(key, least, otherwise);
    if (value != std::floor(value) || value > 1e9)
      throw usage_error(fmt::format("{}: \"{}\" is {}; a whole number is wanted", where_, key, value));
    return static_cast<int>(value);
  }

  const json* child(const char* key) {
    known_.emplace_back(key);
    return object_.contains(key) ? &object_.at(key) : nullptr;
  }

  void finish() const {
    for (const auto& [key, _] : object_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        throw usage_error(fmt::format("{}: \"{}\" is none of {}", where_, key, fmt::join(known_, ", ")));
  }

 private:
  const json& object_;
  std::string where_;
  std::vector<std::string> known_;
};

cost_line read_line(const json* found, const char* rate, const std::string& where) {
  if (found == nullptr) throw usage_error(fmt::format("{} is missing; accepted: {}", where, machine_files));
  object_reader reader(*found, where);
  cost_line line;
  line.startup_ns = reader.number("startup_ns", 0, 0.0);
  line.per_ns = reader.number(rate, 0, 0.0);
  reader.finish();
  return line;
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
  m.assumptions = {
      "DMA startup of 500 ns: the paper's figure is lost",
      "launch of 1680 ns: what its table 2 adds once; launch and epilogue are lost",
      "no epilogue: the paper's figure is lost, and it decides no comparison between tiles of equally many waves",
      "throughputs per ms, where the paper prints per s",
      "elements of 2 bytes, 99 KiB of shared memory per block",
      "one load at a time (serial): the paper says that one DMA warp is active at a time",
  };
  return m;
}

machine read_machine(std::string_view text, std::string_view source) {
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) throw usage_error(fmt::format("{} is not JSON; accepted: {}", source, machine_files));
  const std::string where(source);
  object_reader reader(parsed, where);
  machine m;
  if (const json* name = reader.child("name"); name != nullptr && name->is_string()) m.name = name->get<std::string>();
  m.sms = reader.whole("sms", 1);
  m.shared_bytes = reader.whole("shared_bytes", 1);
  m.accumulator_bytes = reader.whole("accumulator_bytes", 0, 0.0);
  m.element_bytes = reader.whole("element_bytes", 1);
  m.producers = reader.whole("producers", 1, 1.0);
  if (m.producers > 2) throw usage_error(fmt::format("{}: \"producers\" is {}; accepted: 1, 2", where, m.producers));
  if (const json* persistent = reader.child("persistent"); persistent != nullptr) {
    if (!persistent->is_boolean()) throw usage_error(fmt::format("{}: \"persistent\" is neither true nor false", where));
    m.persistent = persistent->get<bool>();
  }
  m.launch_ns = reader.number("launch_ns", 0);
  m.dma = read_line(reader.child("dma"), "bytes_per_ns", where + ": \"dma\"");
  m.dma_latency_ns = reader.number("dma_latency_ns", 0, 0.0);
  m.chip_bytes_per_ns = reader.number("chip_bytes_per_ns", 0, 0.0);
  const json* math = reader.child("math");
  const bool by_work = math != nullptr && math->is_object() && math->contains("multiply_adds_per_ns");
  m.math_work = by_work ? work_unit::multiply_adds : work_unit::bytes;
  m.math = read_line(math, by_work ? "multiply_adds_per_ns" : "bytes_per_ns", where + ": \"math\"");
  m.math_peak_per_ns = reader.number("math_peak_per_ns", 0, 0.0);
  m.epilogue = read_line(reader.child("epilogue"), "bytes_per_ns", where + ": \"epilogue\"");
  m.output_bytes = reader.whole("output_bytes", 1, 4.0);
  m.query_ns = reader.number("query_ns", 0, 0.0);
  m.handover_ns = reader.number("handover_ns", 0, 0.0);
  if (const json* list = reader.child("assumptions"); list != nullptr && list->is_array())
    for (const json& line : *list)
      if (line.is_string()) m.assumptions.push_back(line.get<std::string>());
  reader.finish();
  return m;
}

std::string write_machine(const machine& m) {
  json out = {{"name", m.name},
              {"sms", m.sms},
              {"shared_bytes", m.shared_bytes},
              {"accumulator_bytes", m.accumulator_bytes},
              {"element_bytes", m.element_bytes},
              {"producers", m.producers},
              {"persistent", m.persistent},
              {"launch_ns", m.launch_ns},
              {"dma", to_json(m.dma, "bytes_per_ns")},
              {"dma_latency_ns", m.dma_latency_ns},
              {"chip_bytes_per_ns", m.chip_bytes_per_ns},
              {"math", to_json(m.math, m.math_work == work_unit::bytes ? "bytes_per_ns" : "multiply_adds_per_ns")},
              {"math_peak_per_ns", m.math_peak_per_ns},
              {"epilogue", to_json(m.epilogue, "bytes_per_ns")},
              {"output_bytes", m.output_bytes},
              {"query_ns", m.query_ns},
              {"handover_ns", m.handover_ns},
              {"assumptions", m.assumptions}};
  return out.dump(2) + "\n";
}

stage_times times_on(const machine& m, extent tile, int active) {
  const auto load = [&](std::int64_t elements) {
    const double bytes = static_cast<double>(elements * m.element_bytes);
    const double shared = m.chip_bytes_per_ns > 0 ? active * bytes / m.chip_bytes_per_ns : 0;
    const double busy = std::max(m.dma.ns(bytes), shared);
    return load_time{to_ticks(busy), to_ticks(busy + m.dma_latency_ns)};
  };
  const std::int64_t tm = tile.m, tn = tile.n, tk = tile.k;
  const double work = m.math_work == work_unit::bytes ? static_cast<double>((tm * tk + tk * tn) * m.element_bytes)
                                                      : static_cast<double>(tm * tn * tk);
  return {load(tm * tk),
          load(tk * tn),
          to_ticks(std::max(m.math.ns(work), m.math_peak_per_ns > 0 ? work / m.math_peak_per_ns : 0)),
          to_ticks(m.epilogue.ns(static_cast<double>(tm * tn * m.output_bytes))),
          to_ticks(m.query_ns),
          to_ticks(m.handover_ns)};
}

std::vector<stage_times> waves_on(const machine& m, extent size, extent tile) {
  const std::int64_t all = output_tiles(size, tile);
  const int count = waves(size, tile, m.sms);
  std::vector<stage_times> times(count, times_on(m, tile, static_cast<int>(std::min<std::int64_t>(all, m.sms))));
  times.back() = times_on(m, tile, static_cast<int>(all - static_cast<std::int64_t>(count - 1) * m.sms));
  return times;
}

std::int64_t buffer_bytes(const machine& m, const configuration& c) {
  const std::int64_t elements = static_cast<std::int64_t>(c.tile.m) * c.tile.k + static_cast<std::int64_t>(c.tile.k) * c.tile.n;
  return elements * m.element_bytes * c.warps.buffers;
}

std::int64_t accumulator_bytes(const configuration& c) {
  return static_cast<std::int64_t>(c.tile.m) * c.tile.n * 4 * c.warps.consumers;
}

bool fits(const machine& m, const configuration& c) {
  return buffer_bytes(m, c) <= m.shared_bytes && (m.accumulator_bytes == 0 || accumulator_bytes(c) <= m.accumulator_bytes);
}

}  // namespace mgsync::pipeline
