// Lines of a store, as they are and with checksums that fit what stands in them: what is damaged is told and
// passed over, and what is left can be written again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/results/files/json_document.hpp"
#include "src/results/files/result_file.hpp"
#include "src/results/frame/results_table.hpp"
#include "src/results/values/checksum.hpp"

namespace {

using namespace mgsync;

// Every line with its checksum made anew: nothing random comes by the right one.
std::string sealed(std::string_view text) {
  constexpr std::string_view tail = R"(,"crc":"00000000"})";
  std::string all;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    const auto at = line.rfind(tail.substr(0, 8));
    all += at == line.npos || line.size() - at != tail.size() ? std::string(line)
                                                              : seal(std::string(line.substr(0, at)) + '}');
    if (end == text.npos) break;
    all += '\n';
    text.remove_prefix(end + 1);
  }
  return all;
}

void read(const std::string& text) {
  try {
    const auto found = result_file_of("fuzz", text);
    const auto written = format_json(found.document);
    if (format_json(parse_json(written, "again")) != written) std::abort();
    format_table(found.document.results);
  } catch (const usage_error& error) {
    if (std::string_view(error.what()).find("fuzz") == std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text);
  read(sealed(text));
  return 0;
}
