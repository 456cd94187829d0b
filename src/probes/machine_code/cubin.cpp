#include "src/probes/machine_code/cubin.hpp"

#include <cstring>
#include <stdexcept>

#include <elf.h>

namespace mgsync::machine_code {

namespace {

constexpr std::string_view text_prefix = ".text.";

template <class T>
T read_at(std::span<const std::byte> bytes, std::uint64_t offset, const char* what) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    throw std::invalid_argument(std::string("this cubin ends before its ") + what);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::span<const std::byte> bytes, const Elf64_Shdr& strings, std::uint64_t offset) {
  if (strings.sh_offset > bytes.size() || bytes.size() - strings.sh_offset < strings.sh_size ||
      offset >= strings.sh_size)
    throw std::invalid_argument("a section of this cubin has a name outside of the file");
  const auto* begin = reinterpret_cast<const char*>(bytes.data() + strings.sh_offset + offset);
  return {begin, strnlen(begin, strings.sh_size - offset)};
}

std::vector<instruction> code_of(std::span<const std::byte> bytes, const Elf64_Shdr& section,
                                 std::string_view name) {
  if (section.sh_offset > bytes.size() || bytes.size() - section.sh_offset < section.sh_size)
    throw std::invalid_argument("the code of " + std::string(name) + " lies outside of the file");
  if (section.sh_size % sizeof(instruction) != 0)
    throw std::invalid_argument("the code of " + std::string(name) +
                                " is no whole number of 16-byte instructions");
  std::vector<instruction> code(section.sh_size / sizeof(instruction));
  if (!code.empty()) std::memcpy(code.data(), bytes.data() + section.sh_offset, section.sh_size);
  return code;
}

// Up to CUDA 12 the ABI's version is 7 and the architecture stands in the low byte of the flags; CUDA 13
// moved it up by one.
unsigned architecture_of(const Elf64_Ehdr& header) {
  const unsigned old_place = header.e_flags & 0xff;
  return header.e_ident[EI_ABIVERSION] <= 7 ? old_place : (header.e_flags >> 8) & 0xff;
}

}  // namespace

const function* cubin::find(std::string_view name) const {
  for (const auto& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

cubin read_cubin(std::span<const std::byte> bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0, "ELF header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    throw std::invalid_argument("this is no cubin: it has no ELF64 header");
  cubin result;
  result.architecture = architecture_of(header);
  const auto section = [&](std::uint64_t index) {
    return read_at<Elf64_Shdr>(bytes, header.e_shoff + index * sizeof(Elf64_Shdr), "table of sections");
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    const Elf64_Shdr one = section(index);
    if (one.sh_type != SHT_PROGBITS) continue;
    const auto name = text_at(bytes, names, one.sh_name);
    if (!name.starts_with(text_prefix)) continue;
    result.functions.push_back({std::string(name.substr(text_prefix.size())), code_of(bytes, one, name)});
  }
  return result;
}

}  // namespace mgsync::machine_code
