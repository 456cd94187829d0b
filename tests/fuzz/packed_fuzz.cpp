// What is packed becomes a text within the bounds of a file, or a usage_error that names it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/base/bounded_file.hpp"
#include "src/base/errors.hpp"
#include "src/results/files/packed_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mgsync;
  try {
    const auto text = unpacked(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
    if (text.size() > largest_file_bytes) std::abort();
  } catch (const usage_error& error) {
    if (!std::string_view(error.what()).starts_with("fuzz")) std::abort();
  }
  return 0;
}
