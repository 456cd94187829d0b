// A document of results is one or a usage_error that names the file; what is one can be written, read again,
// told to people and compared.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/results/comparison/comparison.hpp"
#include "src/results/files/anonymous.hpp"
#include "src/results/files/csv_document.hpp"
#include "src/results/files/json_document.hpp"
#include "src/results/frame/results_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mgsync;
  try {
    auto document = parse_json(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    const auto written = format_json(document);
    if (format_json(parse_json(written, "again")) != written) std::abort();
    format_csv(document);
    format_table(document.results);
    if (document.results.size() <= 32) compare({&document, 1}, {&document, 1});
    make_anonymous(document);
    parse_json(format_json(document), "again");
  } catch (const usage_error& error) {
    if (!std::string_view(error.what()).starts_with("fuzz")) std::abort();
  }
  return 0;
}
