// Reads fat binaries: the PTX and the cubins that nvcc embeds in an object file of the host, each with a
// header.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mgsync::fat_binary {

enum class packing { none, lz4, zstd };

struct image {
  bool is_text = false;  // PTX; else a cubin
  unsigned architecture = 0;
  packing packed = packing::none;
  std::span<const std::byte> bytes;  // as they are in the file, compressed or not
  std::size_t unpacked_bytes = 0;    // what the header says
};
// The content. Nothing: this mgsync was built without the library that decompresses it (MGSYNC_LZ4,
// MGSYNC_ZSTD). Throws usage_error where it is damaged, or larger than any that is read.
std::optional<std::string> content_of(const image&);

// The parts of a fat binary, or of all fat binaries in an ELF file of the host; nothing where there is none.
// Throws usage_error where one is damaged.
std::vector<image> images_in(std::span<const std::byte> file);

// The sections of fat binaries of an object file of the host, which alone are read, however large the file
// is. Empty: it is no such file, or has none. Throws usage_error, without the file's name.
std::string fat_sections_of(const std::string& file);

bool is_elf(std::span<const std::byte>);
bool is_cubin(std::span<const std::byte>);
bool is_fat_binary(std::span<const std::byte>);

}  // namespace mgsync::fat_binary
