#include "src/results/values/checksum.hpp"

#include <boost/crc.hpp>
#include <fmt/format.h>

namespace mgsync {

std::uint32_t crc32(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::uint64_t fnv1a_64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return hash;
}

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }
std::string hex(std::uint32_t value) { return fmt::format("{:08x}", value); }

std::string seal(std::string_view object) {
  return fmt::format("{},\"crc\":\"{}\"}}", object.substr(0, object.size() - 1), hex(crc32(object)));
}

std::optional<std::string> unseal(std::string_view line) {
  constexpr std::size_t tail = std::string_view(R"(,"crc":"00000000"})").size();
  if (line.size() <= tail) return {};
  std::string object(line.substr(0, line.size() - tail));
  object += '}';
  if (seal(object) != line) return {};
  return object;
}

}  // namespace mgsync
