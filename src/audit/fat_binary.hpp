// Reads fat binaries: the PTX and the cubins that nvcc embeds in an object file of the host, each with a
// header.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mgsync::audit {

struct image {
  bool is_text = false;  // PTX; else a cubin
  unsigned architecture = 0;
  bool is_packed = false;  // compressed: `bytes` are the compressed content
  std::span<const std::byte> bytes;
};

// The parts of a fat binary, or of all fat binaries in an ELF file of the host; nothing where there is none.
// Throws usage_error where one is damaged.
std::vector<image> images_in(std::span<const std::byte> file);

bool is_elf(std::span<const std::byte>);
bool is_cubin(std::span<const std::byte>);
bool is_fat_binary(std::span<const std::byte>);

}  // namespace mgsync::audit
