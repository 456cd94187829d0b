// XML is a machine or a usage_error, whatever hwloc does with it in its child process.
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/errors.hpp"
#include "topology/sources/xml_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    mgsync::topology::read_xml(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.xml");
  } catch (const mgsync::usage_error&) {}
  return 0;
}
