// Whatever the bytes: they are audited, or refused by a usage_error that names the file; and each finding
// stands at an instruction.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/audit/file.hpp"
#include "src/base/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mgsync;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    for (const bool across : {false, true}) {
      const auto all = audit::audit_bytes({{"fuzz", bytes}, {"fuzz", bytes}}, {.across_gpus = across});
      for (const auto& part : all.parts) {
        if (part.functions.size() != part.reports.size()) std::abort();
        for (std::size_t i = 0; i < part.functions.size(); ++i)
          for (const auto& found : part.reports[i].findings)
            if (found.step >= part.functions[i].steps.size() || found.broken == nullptr) std::abort();
      }
    }
  } catch (const usage_error& error) {
    if (std::string(error.what()).rfind("fuzz: ", 0) != 0) std::abort();
  }
  return 0;
}
