// Checksums of the store: of a line, and of a point's key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mgsync {

// CRC-32 as in IEEE 802.3, zlib and Python's zlib.crc32.
std::uint32_t crc32(std::string_view bytes);

// 64-bit FNV-1a.
std::uint64_t fnv1a_64(std::string_view bytes);

// Sixteen hexadecimal digits, lower case.
std::string hex(std::uint64_t value);
// Eight of them.
std::string hex(std::uint32_t value);

// Adds the last member "crc" to a JSON object in one line: {"a":1} becomes {"a":1,"crc":"xxxxxxxx"}, where
// the digits are crc32 of the object without it.
std::string seal(std::string_view object);
// The object without its checksum; nothing where the checksum is missing or wrong.
std::optional<std::string> unseal(std::string_view line);

}  // namespace mgsync
