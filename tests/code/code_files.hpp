// The cubins that the build made, by name and architecture.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>

#include "src/probes/machine_code/code_check.hpp"

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
  std::erase_if(
      files, [](const code_file& f) { return f.architecture != machine_code::architecture_known_in_full; });
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

// Every cubin inside of an object file whose device code is not compressed.
inline std::vector<machine_code::cubin> cubins_in(const std::string& path) {
  constexpr std::uint16_t cuda_elf = 190;
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<machine_code::cubin> found;
  for (auto at = bytes.begin();;) {
    at = std::search(at, bytes.end(), ELFMAG, ELFMAG + SELFMAG);
    if (bytes.end() - at < static_cast<std::ptrdiff_t>(sizeof(Elf64_Ehdr))) return found;
    Elf64_Ehdr header;
    std::memcpy(&header, &*at, sizeof header);
    if (header.e_machine == cuda_elf)
      found.push_back(machine_code::read_cubin(
          {reinterpret_cast<const std::byte*>(&*at), static_cast<std::size_t>(bytes.end() - at)}));
    at += SELFMAG;
  }
}

}  // namespace mgsync
