// A temporary folder of this process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "src/base/unique_descriptor.hpp"

namespace mgsync {

// A folder in TMPDIR, or /tmp. It is removed by the destructor, and by a small helper process if this process
// ends in any other way. Throws usage_error where none can be made.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string file(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  unique_descriptor
      alive_;         // the write end of a pipe, by whose closing the helper sees that this process ended
  int remover_ = -1;  // the helper's process id; -1: there is none
};

}  // namespace mgsync
