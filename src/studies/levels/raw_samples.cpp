#include "src/studies/levels/raw_samples.hpp"

#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace mgsync::levels {

std::string csv_header() {
  return "family,links,threads,blocks_per_sm,cluster,lanes,where,launch,sm,span_cycles,warps,host_ns,latencies";
}

std::string to_csv(const raw_samples& r) {
  std::string cycles;
  for (const auto& [value, count] : r.latency_cycles) cycles += fmt::format("{}{}:{}", cycles.empty() ? "" : ";", value, count);
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.0f},{}", r.family, r.links, r.threads, r.blocks_per_sm, r.cluster, r.lanes,
                     r.where, r.launch, r.sm, r.span_cycles, r.warps, r.host_ns, cycles);
}

std::vector<raw_samples> from_csv(std::string_view text) {
  std::vector<raw_samples> all;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#' || line == csv_header()) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    try {
      if (cells.size() != 13) throw std::invalid_argument("cells");
      raw_samples r;
      const auto number = [&](std::size_t k) { return static_cast<unsigned>(std::stoul(cells[k])); };
      r.family = cells[0];
      r.links = number(1);
      r.threads = number(2);
      r.blocks_per_sm = number(3);
      r.cluster = number(4);
      r.lanes = number(5);
      r.where = cells[6];
      r.launch = number(7);
      r.sm = number(8);
      r.span_cycles = std::stoull(cells[9]);
      r.warps = number(10);
      r.host_ns = std::stod(cells[11]);
      std::istringstream pairs(cells[12]);
      for (std::string pair; std::getline(pairs, pair, ';');) {
        const auto colon = pair.find(':');
        if (colon == std::string::npos) throw std::invalid_argument("pair");
        r.latency_cycles[std::stoll(pair.substr(0, colon))] += std::stoull(pair.substr(colon + 1));
      }
      all.push_back(std::move(r));
    } catch (const std::logic_error&) {
      throw std::invalid_argument("this line is no raw sample of the study levels: " + line);
    }
  }
  return all;
}

}  // namespace mgsync::levels
