// A recording of events is one or a usage_error; what is one can be written, told as a table, and drawn or
// refused.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/report/svg.hpp"
#include "src/results/files/chrome_trace.hpp"
#include "src/results/frame/recording.hpp"
#include "tests/fuzz/well_formed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mgsync;
  try {
    const auto read =
        recording_from_json(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    if (recording_from_json(text_of(read), "again") != read) std::abort();
    event_table(read);
    const auto bars = bars_of(read, {"recording", "what was recorded", "by a fuzzer"});
    try {
      fuzz::must_be_well_formed(report::to_svg(bars));
    } catch (const std::invalid_argument&) {}
    try {
      to_chrome_trace(bars);
    } catch (const std::invalid_argument&) {}
  } catch (const usage_error& error) {
    if (!std::string_view(error.what()).starts_with("fuzz")) std::abort();
  }
  return 0;
}
