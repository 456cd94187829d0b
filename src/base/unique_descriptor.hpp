// Owns a file descriptor.
#pragma once

#include <unistd.h>

#include <cstdio>

#include "src/base/unique_handle.hpp"

namespace mgsync {

struct descriptor_traits {
  using type = int;
  static type none() { return -1; }
  static void close(type descriptor) noexcept {
    if (::close(descriptor) != 0) std::perror("mgsync: closing a file");
  }
};
using unique_descriptor = unique_handle<descriptor_traits>;

}  // namespace mgsync
