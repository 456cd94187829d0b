// The cubins that the build made, by name and architecture.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/harness/machine_code/code_check.hpp"

namespace mgsync {

struct code_file {
  std::string probes;         // "arithmetic"
  unsigned architecture = 0;  // 90
  std::string path;
};

// From "<folder>/<probes>_<architecture>.cubin,...", as CMake lists them.
inline std::vector<code_file> code_files(const std::string& list) {
  std::vector<code_file> files;
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(',', at), list.size());
    const std::string path = list.substr(at, end - at);
    const std::string stem = std::filesystem::path(path).stem().string();
    const auto split = stem.rfind('_');
    files.push_back({stem.substr(0, split), static_cast<unsigned>(std::stoul(stem.substr(split + 1))), path});
    at = end + 1;
  }
  return files;
}

// Those of the architecture that is known in full.
inline std::vector<code_file> files_known_in_full(const std::string& list) {
  auto files = code_files(list);
  std::erase_if(files, [](const code_file& f) { return f.architecture != machine_code::architecture_known_in_full; });
  return files;
}

// How a test of one file is called.
inline std::string test_name(const testing::TestParamInfo<code_file>& which) {
  return which.param.probes + "_" + std::to_string(which.param.architecture);
}
inline void PrintTo(const code_file& file, std::ostream* out) { *out << file.path; }

inline machine_code::cubin read_code(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return machine_code::read_cubin(std::as_bytes(std::span(bytes)));
}

}  // namespace mgsync
