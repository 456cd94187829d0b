// Whatever the bytes: they are audited, or refused by a usage_error that names the file; and each finding
// stands at an instruction. What is read of a file is no more than the file has.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/audit/file.hpp"
#include "src/base/errors.hpp"
#include "src/probes/fat_binary/images.hpp"

namespace {

void read_sections(const std::string& bytes) {
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  try {
    const auto read = mgsync::fat_binary::fat_sections_of("/proc/self/fd/" + std::to_string(file));
    if (read.size() > bytes.size() * bytes.size()) std::abort();  // sections may overlap
  } catch (const mgsync::usage_error&) {}
  close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mgsync;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_sections(bytes);
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
