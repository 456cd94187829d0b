#include "src/probes/fat_binary/images.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <elf.h>
#include <fmt/format.h>
#if MGSYNC_WITH_LZ4
#include <lz4.h>
#endif
#if MGSYNC_WITH_ZSTD
#include <zstd.h>
#endif

#include "src/base/errors.hpp"
#include "src/base/unique_descriptor.hpp"

namespace mgsync::fat_binary {
namespace {

using bytes = std::span<const std::byte>;

// As fatbinary of CUDA 8 to 13 writes them.
constexpr std::uint32_t magic = 0xba55ed50;
constexpr std::uint16_t kind_of_text = 1, kind_of_cubin = 2;
constexpr std::uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;
constexpr std::size_t largest_image = std::size_t{256} << 20, largest_sections = std::size_t{4} << 30;
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
    const packing packed = (head.flags & lz4_flag) != 0    ? packing::lz4
                           : (head.flags & zstd_flag) != 0 ? packing::zstd
                                                           : packing::none;
    const bytes content = packed == packing::none ? all : part_of(all, 0, head.packed_bytes);
    if (head.kind == kind_of_text || head.kind == kind_of_cubin)
      found.push_back({head.kind == kind_of_text, head.architecture, packed, content, head.unpacked_bytes});
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

bool holds_fat_binaries(std::string_view section) {
  return section == ".nv_fatbin" || section == "__nv_relfatbin";
}

// So many bytes of a file; fewer where it ends.
std::string part_of(int file, std::uint64_t offset, std::size_t size) {
  struct stat is {};
  if (fstat(file, &is) != 0 || static_cast<std::uint64_t>(is.st_size) <= offset) return {};
  std::string read(std::min(size, static_cast<std::size_t>(is.st_size) - offset), '\0');
  std::size_t got = 0;
  while (got < read.size()) {
    const auto more = pread(file, read.data() + got, read.size() - got, static_cast<off_t>(offset + got));
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  read.resize(got);
  return read;
}

}  // namespace

std::optional<std::string> content_of(const image& one) {
  if (one.packed == packing::none)
    return std::string(reinterpret_cast<const char*>(one.bytes.data()), one.bytes.size());
  if (one.unpacked_bytes > largest_image)
    throw usage_error(fmt::format("an image in its fat binary has {} bytes; accepted: {} MiB",
                                  one.unpacked_bytes, largest_image >> 20));
  constexpr std::string_view damaged = "a compressed image in its fat binary is damaged";
#if MGSYNC_WITH_LZ4
  if (one.packed == packing::lz4) {
    std::string all(one.unpacked_bytes, '\0');
    const int made =
        LZ4_decompress_safe(reinterpret_cast<const char*>(one.bytes.data()), all.data(),
                            static_cast<int>(one.bytes.size()), static_cast<int>(one.unpacked_bytes));
    if (made < 0 || static_cast<std::size_t>(made) != all.size()) throw usage_error(std::string(damaged));
    return all;
  }
#endif
#if MGSYNC_WITH_ZSTD
  if (one.packed == packing::zstd) {
    std::string all(one.unpacked_bytes, '\0');
    const std::size_t made = ZSTD_decompress(all.data(), all.size(), one.bytes.data(), one.bytes.size());
    if (ZSTD_isError(made) != 0 || made != all.size()) throw usage_error(std::string(damaged));
    return all;
  }
#endif
  static_cast<void>(damaged);
  return std::nullopt;
}

std::string fat_sections_of(const std::string& file) {
  const unique_descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!in) return {};
  const std::string start = part_of(in.get(), 0, sizeof(Elf64_Ehdr));
  const auto head_bytes = std::as_bytes(std::span(start));
  if (!is_elf(head_bytes) || is_cubin(head_bytes)) return {};
  const auto head = at<Elf64_Ehdr>(head_bytes, 0);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr)) return {};
  const std::string table = part_of(in.get(), head.e_shoff, head.e_shnum * sizeof(Elf64_Shdr));
  const auto section = [&](std::uint64_t i) {
    return at<Elf64_Shdr>(std::as_bytes(std::span(table)), i * sizeof(Elf64_Shdr));
  };
  const auto named = section(head.e_shstrndx);
  const std::string names =
      part_of(in.get(), named.sh_offset, std::min<std::uint64_t>(named.sh_size, largest_image));
  std::string all;
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    const auto one = section(i);
    if (one.sh_type == SHT_NOBITS || one.sh_name >= names.size() ||
        !holds_fat_binaries(names.c_str() + one.sh_name))
      continue;
    if (one.sh_size > largest_sections - all.size())
      throw usage_error(fmt::format("its fat binaries have more than {} GiB", largest_sections >> 30));
    const std::string read = part_of(in.get(), one.sh_offset, one.sh_size);
    if (read.size() != one.sh_size) throw usage_error("a part of it lies outside of the file");
    all += read;
  }
  return all;
}

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
    if (holds_fat_binaries(name)) read_all(part_of(file, one.sh_offset, one.sh_size), found);
  }
  return found;
}

}  // namespace mgsync::fat_binary
