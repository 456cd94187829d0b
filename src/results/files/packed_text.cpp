#include "src/results/files/packed_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#if MGSYNC_WITH_LZMA
#include <lzma.h>
#endif

#include "src/base/child_process.hpp"
#include "src/base/errors.hpp"
#include "src/base/scratch_folder.hpp"

namespace mgsync {
namespace {

constexpr std::string_view magic("\xfd"
                                 "7zXZ\0",
                                 6);

[[noreturn]] void refuse_late(const std::string& file, std::chrono::milliseconds within) {
  throw usage_error(fmt::format("{}: not unpacked to its end within {} s", file,
                                static_cast<double>(within.count()) * 1e-3));
}
[[noreturn]] void refuse_large(const std::string& file) {
  throw usage_error(
      fmt::format("{}: larger than {} MiB once it is unpacked", file, largest_file_bytes >> 20));
}
[[noreturn]] void refuse_damaged(const std::string& file) {
  throw usage_error(fmt::format("{}: the packed file is damaged or cut off", file));
}

}  // namespace

std::string unpacked_by_xz(const std::string& bytes, const std::string& file,
                           std::chrono::milliseconds within) {
  if (find_in_path("xz").empty())
    throw usage_error(fmt::format("{}: this mgsync was built without liblzma, and there is no xz in PATH; "
                                  "accepted: what xz -d made of it elsewhere",
                                  file));
  const scratch_folder work;
  const auto copy = work.file("packed.xz");
  std::ofstream(copy, std::ios::binary) << bytes;
  const auto end = run_child(
      {.command = {"xz", "-dcM", "256MiB", copy}, .longest = within, .most_output = largest_file_bytes});
  if (end.interrupted) throw usage_error(fmt::format("{}: interrupted while it was unpacked", file));
  if (end.outlived) refuse_late(file, within);
  if (end.out.size() > largest_file_bytes) refuse_large(file);
  if (!end.death.empty()) refuse_damaged(file);
  return end.out;
}

bool is_packed_name(std::string_view file) { return file.ends_with(".xz"); }

std::string read_text(const std::string& file, std::string_view accepted) {
  return unpacked(read_bounded_file(file, file, accepted), file);
}

#if MGSYNC_WITH_LZMA

bool can_pack() { return true; }

std::string unpacked(std::string bytes, const std::string& file, std::chrono::milliseconds within) {
  if (!std::string_view(bytes).starts_with(magic)) return bytes;
  const auto end = std::chrono::steady_clock::now() + within;
  constexpr std::size_t often_enough = std::size_t{1} << 16;  // much of what is packed may be nothing
  constexpr std::uint64_t most_memory = std::uint64_t{256} << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, most_memory, LZMA_CONCATENATED) != LZMA_OK)
    throw usage_error(fmt::format("{}: cannot be unpacked", file));
  std::string text, piece(1 << 20, '\0');
  stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  lzma_ret said = LZMA_OK;
  bool in_time = true;
  while (said == LZMA_OK && in_time && text.size() <= largest_file_bytes) {
    if (stream.avail_in == 0) {
      stream.avail_in = std::min(left, often_enough);
      left -= stream.avail_in;
    }
    stream.next_out = reinterpret_cast<std::uint8_t*>(piece.data());
    stream.avail_out = piece.size();
    said = lzma_code(&stream, left == 0 ? LZMA_FINISH : LZMA_RUN);
    text.append(piece.data(), piece.size() - stream.avail_out);
    in_time = said != LZMA_OK || std::chrono::steady_clock::now() < end;
  }
  lzma_end(&stream);
  if (!in_time) refuse_late(file, within);
  if (text.size() > largest_file_bytes) refuse_large(file);
  if (said != LZMA_STREAM_END) refuse_damaged(file);
  return text;
}

std::string packed(std::string_view text) {
  std::string bytes(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t used = 0;
  const auto said = lzma_easy_buffer_encode(
      9, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
      reinterpret_cast<std::uint8_t*>(bytes.data()), &used, bytes.size());
  if (said != LZMA_OK)
    throw api_error("liblzma", fmt::format("error {}", static_cast<int>(said)), "packing a file");
  bytes.resize(used);
  return bytes;
}

#else

bool can_pack() { return false; }
std::string unpacked(std::string bytes, const std::string& file, std::chrono::milliseconds within) {
  return std::string_view(bytes).starts_with(magic) ? unpacked_by_xz(bytes, file, within) : bytes;
}
std::string packed(std::string_view) {
  throw usage_error("this mgsync was built without liblzma, and packs no file; use xz: xz FILE");
}

#endif

}  // namespace mgsync
