// The file and line of a call, like std::source_location: a class of our own, so that public types are the
// same in C++17 and C++20.
#pragma once

namespace mgsync { inline namespace v1 {

class source_location {
 public:
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           unsigned line = __builtin_LINE()) {
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

}}  // namespace mgsync::v1
