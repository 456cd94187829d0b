#include "src/studies/barriers/checked_code.hpp"

#include <map>
#include <tuple>

#include <fmt/format.h>

#include "src/probes/fat_binary/kernel_code.hpp"
#include "src/results/values/checksum.hpp"

namespace mgsync::barriers {

std::string code_of(const checked_kernel& kernel) {
  using fat_binary::code_of_program;
  static std::map<std::tuple<std::string, unsigned>, code_of_program> programs;  // one thread makes barriers
  if (kernel.name.empty()) return {};
  const auto program =
      programs.try_emplace(std::tuple(kernel.file, kernel.architecture), kernel.file, kernel.architecture)
          .first;
  const auto code = program->second.of(kernel.name);
  if (!code) return {};
  return fmt::format("{}.{} {}", kernel.architecture / 10, kernel.architecture % 10, hex(fnv1a_64(*code)));
}

}  // namespace mgsync::barriers
