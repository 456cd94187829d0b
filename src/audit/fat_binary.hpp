// The PTX and the cubins that nvcc puts into a host's object, one after the other, with a head of each.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mgsync::audit {

struct image {
  bool is_text = false;  // PTX; else a cubin
  unsigned architecture = 0;
  bool is_packed = false;  // compressed: `bytes` are not what it holds
  std::span<const std::byte> bytes;
};

// All of a fat binary, or of those in an ELF file of the host. Throws usage_error where what is there is
// damaged; nothing: there is none.
std::vector<image> images_in(std::span<const std::byte> file);

bool is_elf(std::span<const std::byte>);
bool is_cubin(std::span<const std::byte>);
bool is_fat_binary(std::span<const std::byte>);

}  // namespace mgsync::audit
