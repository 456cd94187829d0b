#include "src/studies/timeline/instruction_runs.hpp"

#include "src/harness/methods/slope.hpp"
#include "src/studies/timeline/instruction_overlap.hpp"

namespace mgsync::timelines {

std::vector<named_value> instruction_method::row_of(const seen& run) const {
  std::vector<named_value> row;
  if (!of_.lengths.empty()) {
    std::vector<double> links, cycles;
    for (const unsigned length : of_.lengths) {
      links.push_back(length);
      cycles.push_back(value_of(run, of_.kernel_name(static_cast<int>(length))));
    }
    const auto line = fit_line(links, cycles);
    row = {{"latency", line.slope}, {"residual", line.residual}};
  }
  if (has_single_shot(of_)) {
    row.push_back({"once", value_of(run, of_.kernel_name(probes::once))});
    row.push_back({"as_compiled", value_of(run, of_.kernel_name(probes::as_compiled))});
  }
  return row;
}

std::vector<metric_name> instruction_method::columns() const {
  std::vector<metric_name> all;
  if (!of_.lengths.empty()) all = {{"latency", "cycles"}, {"residual", "cycles"}};
  if (has_single_shot(of_)) {
    all.push_back({"once", "cycles"});
    all.push_back({"as_compiled", "cycles"});
  }
  return all;
}

std::vector<named_value> pairs_method::row_of(const seen& run) const {
  std::vector<named_value> row;
  // The cycles that the clock reads, and the combining of results, add to an instruction: measured on a load,
  // whose true latency is known from a slope.
  const double load = (value_of(run, "pair_chased_loads_32") - value_of(run, "pair_chased_loads_4")) / 28;
  const double around = value_of(run, "alone_lds") - load;
  const auto alone = [&](const lone_instruction& i) {
    return value_of(run, "alone_" + std::string(i.name)) - around;
  };
  for (const auto& i : lone_instructions) row.push_back({std::string(i.name), alone(i)});
  for (std::size_t a = 0; a < lone_instructions.size(); ++a)
    for (std::size_t b = a + 1; b < lone_instructions.size(); ++b) {
      const auto &first = lone_instructions[a], &second = lone_instructions[b];
      const auto kernel = pair_kernel(first, second);
      row.push_back({kernel, overlap_of_pair(alone(first), alone(second), value_of(run, kernel) - around)});
    }
  return row;
}

std::vector<metric_name> pairs_method::columns() const {
  std::vector<metric_name> all;
  for (const auto& i : lone_instructions) all.push_back({std::string(i.name), "cycles"});
  for (std::size_t a = 0; a < lone_instructions.size(); ++a)
    for (std::size_t b = a + 1; b < lone_instructions.size(); ++b)
      all.push_back({pair_kernel(lone_instructions[a], lone_instructions[b]), "", better::more});
  return all;
}

}  // namespace mgsync::timelines
