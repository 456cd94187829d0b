// What nvidia-smi topo -m prints is a machine or a usage_error, and the machine comes back from its
// description.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/base/errors.hpp"
#include "topology/description.hpp"
#include "topology/sources/smi_matrix.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mgsync::topology;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    machine m;
    is_smi_matrix(text);
    add_smi_matrix(m, text, "fuzz.txt");
    if (read_description(write_description(m), "again") != m) std::abort();
  } catch (const mgsync::usage_error&) {}
  return 0;
}
