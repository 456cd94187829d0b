// A description is a machine or a usage_error, never anything else; and what is a machine can be written,
// grouped and reported.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/base/errors.hpp"
#include "topology/description.hpp"
#include "topology/reports/reports.hpp"

namespace {

using namespace mgsync::topology;

// Reports of large machines take time that the fuzzer spends better.
bool small(const machine& m) {
  return m.gpus.size() <= 10 && m.cores.size() <= 32 && m.switches.size() <= 32 && m.links.size() <= 64 &&
         m.packages.size() <= 16;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const machine m = read_description(text, "fuzz");
    if (read_description(write_description(m), "again") != m) std::abort();
    if (!small(m)) return 0;
    const std::vector<rank_view> views{{0, 0, m}, {1, 1, m}};
    for (const auto format : report_formats())
      for (const std::size_t ranks : {1U, 2U})
        write_report(std::span(views).first(ranks), {std::string(format), 0, true});
  } catch (const mgsync::usage_error& error) {
    if (std::string_view(error.what()).find("fuzz:") == std::string_view::npos) std::abort();
  }
  return 0;
}
