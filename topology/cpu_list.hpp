// Lists of CPU numbers in the words of taskset and Slurm: "0-3,8,64-67".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mgsync::topology {

inline constexpr int max_cpu = 65535;  // the largest number of a CPU, core, NUMA node or package that is read

// Runs of consecutive rising numbers as "first-last", in the order given; exact: parse_cpu_list gives `cpus`
// back.
std::string write_cpu_list(std::span<const int> cpus);

// Nothing unless `text` is a list of numbers and rising ranges, all of 0..max_cpu and at most max_cpu + 1 in
// all.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Nothing unless the whole of `text` is one decimal number of 0..most.
std::optional<int> parse_number(std::string_view text, int most = max_cpu);

}  // namespace mgsync::topology
