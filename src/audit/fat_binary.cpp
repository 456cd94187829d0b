#include "src/audit/fat_binary.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>

#include <elf.h>

#include "src/base/errors.hpp"

namespace mgsync::audit {
namespace {

using bytes = std::span<const std::byte>;

// As fatbinary of CUDA 8 to 13 writes them.
constexpr std::uint32_t magic = 0xba55ed50;
constexpr std::uint16_t kind_of_text = 1, kind_of_cubin = 2;
constexpr std::uint64_t packed_flags = 0x2000 | 0x8000;  // LZ4, Zstandard
constexpr std::size_t most_images = 10'000;

struct head_of_all {
  std::uint32_t magic;
  std::uint16_t version, head_bytes;
  std::uint64_t bytes;
};
struct head_of_one {
  std::uint16_t kind, version;
  std::uint32_t head_bytes;
  std::uint64_t bytes;  // with padding
  std::uint32_t packed_bytes, unknown;
  std::uint16_t minor, major;
  std::uint32_t architecture, name_at, name_bytes;
  std::uint64_t flags, zero, unpacked_bytes;
};
static_assert(sizeof(head_of_all) == 16 && sizeof(head_of_one) == 64);

template <class T>
T at(bytes file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T))
    throw usage_error("it ends in the middle of a fat binary or of its sections");
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}
bytes part_of(bytes file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || file.size() - offset < size)
    throw usage_error("a part of it lies outside of the file");
  return file.subspan(offset, size);
}

void read_one(bytes fat, std::vector<image>& found) {
  for (std::uint64_t offset = 0; offset < fat.size();) {
    const auto head = at<head_of_one>(fat, offset);
    if (head.head_bytes < sizeof head)
      throw usage_error("an image in its fat binary has a head that is too short");
    const bytes all = part_of(fat, offset + head.head_bytes, head.bytes);
    const bool packed = (head.flags & packed_flags) != 0;
    if (head.kind == kind_of_text || head.kind == kind_of_cubin)
      found.push_back({head.kind == kind_of_text, head.architecture, packed, all});
    if (found.size() > most_images) throw usage_error("its fat binary has more than 10000 images");
    offset += head.head_bytes + head.bytes;
  }
}

// One after the other, with zeros between them.
void read_all(bytes section, std::vector<image>& found) {
  for (std::uint64_t offset = 0; section.size() - offset >= sizeof(head_of_all);) {
    const auto head = at<head_of_all>(section, offset);
    if (head.magic == 0) {
      offset += 8;
      continue;
    }
    if (head.magic != magic || head.head_bytes < sizeof head)
      throw usage_error("its fat binary does not begin as one does");
    read_one(part_of(section, offset + head.head_bytes, head.bytes), found);
    offset += head.head_bytes + head.bytes;
    if (offset > section.size()) return;
  }
}

}  // namespace

bool is_elf(bytes file) {
  return file.size() >= sizeof(Elf64_Ehdr) && std::memcmp(file.data(), ELFMAG, SELFMAG) == 0;
}
bool is_cubin(bytes file) {
  constexpr std::uint16_t cuda = 190;
  return is_elf(file) && at<Elf64_Ehdr>(file, 0).e_machine == cuda;
}
bool is_fat_binary(bytes file) {
  return file.size() >= sizeof(head_of_all) && at<std::uint32_t>(file, 0) == magic;
}

std::vector<image> images_in(bytes file) {
  std::vector<image> found;
  if (is_fat_binary(file)) {
    read_all(file, found);
    return found;
  }
  const auto head = at<Elf64_Ehdr>(file, 0);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr))
    throw usage_error("it is no ELF file of 64 bits with sections");
  const auto section = [&](std::uint64_t i) {
    return at<Elf64_Shdr>(file, head.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto names = section(head.e_shstrndx);
  const bytes text = part_of(file, names.sh_offset, names.sh_size);
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    const auto one = section(i);
    if (one.sh_type == SHT_NOBITS || one.sh_name >= text.size()) continue;
    const auto* begin = reinterpret_cast<const char*>(text.data()) + one.sh_name;
    const std::string_view name(begin, strnlen(begin, text.size() - one.sh_name));
    if (name == ".nv_fatbin" || name == "__nv_relfatbin")
      read_all(part_of(file, one.sh_offset, one.sh_size), found);
  }
  return found;
}

}  // namespace mgsync::audit
