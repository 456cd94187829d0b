#include "topology/cpu_list.hpp"

#include <charconv>

namespace mgsync::topology {

std::string write_cpu_list(std::span<const int> cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

std::optional<int> parse_number(std::string_view text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (value < 0 || value > most || text.front() == '-') return std::nullopt;
  return value;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  if (text.empty()) return cpus;
  while (true) {
    const auto comma = text.find(',');
    const auto item = text.substr(0, comma);
    const auto dash = item.find('-');
    const auto first = parse_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (cpus.size() > static_cast<std::size_t>(max_cpu) + 1) return std::nullopt;
    if (comma == std::string_view::npos) return cpus;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace mgsync::topology
