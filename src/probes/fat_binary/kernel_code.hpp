// The machine code that a program has of one of its kernels, looked up by name: the same sources compiled to
// the same code are found to be the same, and other code to be other, whatever the commit.
//   code_of_program here("/proc/self/exe", 90);
//   if (const auto code = here.of("_Z7barrierPj")) ...
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mgsync::fat_binary {

class code_of_program {
 public:
  // Reads the images of an executable or shared object for that architecture (90: compute capability 9.0).
  // A file that cannot be read, or has none, has no code.
  code_of_program(const std::string& file, unsigned architecture);

  // The instructions of the function, without its name or what it calls. Nothing: it is not there, or this
  // build cannot decompress it.
  std::optional<std::string_view> of(std::string_view function) const;

 private:
  std::map<std::string, std::string, std::less<>> functions_;
};

}  // namespace mgsync::fat_binary
