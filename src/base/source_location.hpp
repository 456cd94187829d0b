// std::source_location, also for compilers whose standard library does not have it yet (Clang 14).
#pragma once

#include <version>

#if defined(__cpp_lib_source_location)
#include <source_location>

namespace mgsync {
using source_location = std::source_location;
}
#else
namespace mgsync {
class source_location {
 public:
  static constexpr source_location current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    source_location here;
    here.file_ = file;
    here.line_ = line;
    return here;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr unsigned line() const { return line_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
};
}  // namespace mgsync
#endif
