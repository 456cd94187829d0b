#include "src/probes/fat_binary/kernel_code.hpp"

#include <span>
#include <stdexcept>

#include "src/base/errors.hpp"
#include "src/probes/fat_binary/images.hpp"
#include "src/probes/machine_code/cubin.hpp"

namespace mgsync::fat_binary {

code_of_program::code_of_program(const std::string& file, unsigned architecture) {
  try {
    const std::string sections = fat_sections_of(file);
    for (const image& one : images_in(std::as_bytes(std::span(sections)))) {
      if (one.is_text || one.architecture != architecture) continue;
      const auto content = content_of(one);
      if (!content) continue;
      for (const auto& f : machine_code::read_cubin(std::as_bytes(std::span(*content))).functions)
        functions_.try_emplace(f.name, reinterpret_cast<const char*>(f.code.data()),
                               f.code.size() * sizeof(machine_code::instruction));
    }
  } catch (const usage_error&) {  // damaged, or of an unknown kind: what was found so far counts
  } catch (const std::invalid_argument&) {}
}

std::optional<std::string_view> code_of_program::of(std::string_view function) const {
  const auto found = functions_.find(function);
  return found == functions_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

}  // namespace mgsync::fat_binary
