// Lists of CPU numbers in the notation of taskset and Slurm: "0-3,8,64-67".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/fields.hpp"

namespace mgsync::topology {

inline constexpr int max_cpu = 65535;  // the largest accepted number of a CPU, core, NUMA node or package

// Runs of consecutive rising numbers as "first-last", in the order given; exact: parse_cpu_list gives `cpus`
// back.
std::string write_cpu_list(std::span<const int> cpus);

// Nothing unless `text` is a list of numbers and rising ranges, all of 0..max_cpu and at most max_cpu + 1 in
// all.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// The list as one text, for fields.
inline auto as_cpu_list(std::vector<int>& cpus) {
  return told_as{cpus, [](const auto& list) { return write_cpu_list(list); },
                 [](const auto& text, auto& place) {
                   const auto list = text ? parse_cpu_list(*text) : std::nullopt;
                   if (!list)
                     place.expected("a list in one text, as in \"0-3,8\", of numbers from 0 to 65535");
                   place.count_listed(list->size());
                   return *list;
                 }};
}

// Nothing unless the whole of `text` is one decimal number of 0..most.
std::optional<int> parse_number(std::string_view text, int most = max_cpu);

}  // namespace mgsync::topology
