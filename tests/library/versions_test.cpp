// Processes, and programs in C, that were built with another mgsync than the library they meet.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <mgsync/multi_grid.h>
#include <mgsync/multi_grid.hpp>

namespace {

// What a group of two processes is refused for, of which the other says `theirs` in place of the first words
// that this one says.
std::string refusal(const std::vector<std::uint32_t>& theirs) {
  const auto exchange = [&](const std::string& mine) {
    std::string other = mine;
    std::memcpy(&other[0], theirs.data(), theirs.size() * sizeof theirs[0]);
    return std::vector<std::string>{mine, other};
  };
  try {
    mgsync::multi_grid grids({0}, 0, exchange);
  } catch (const std::exception& error) { return error.what(); }
  return "nothing thrown";
}

constexpr std::uint32_t ours = mgsync::multi_grid_handle::this_version;

TEST(versions, of_two_processes_that_differ_are_named) {
  EXPECT_NE(refusal({ours + 1, 10203}).find("process 1 has mgsync 1.2.3, and this one 0.1.0"),
            std::string::npos)
      << refusal({ours + 1, 10203});
  // Before there was a version a process began with its host's name.
  EXPECT_NE(refusal({0x65646f6eu, 0x00003130u}).find("process 1 has mgsync another version"),
            std::string::npos);
}
TEST(versions, that_are_alike_are_none_of_the_reasons) {
  EXPECT_EQ(refusal({ours, MGSYNC_VERSION}).find("mgsync 0"), std::string::npos)
      << refusal({ours, MGSYNC_VERSION});
}
TEST(versions, of_the_c_interface_are_those_of_the_headers) {
  EXPECT_EQ(mgsync_version(), MGSYNC_VERSION);
  EXPECT_EQ(mgsync_abi_version(), MGSYNC_ABI_VERSION);
}
// What a kernel of one version reads of another's handle, for ever.
TEST(versions, stand_where_all_kernels_look_for_them) {
  static_assert(offsetof(mgsync::multi_grid_handle, version) == 0);
  static_assert(offsetof(mgsync::multi_grid_handle, refused) == 8);
  static_assert(sizeof(mgsync::multi_grid_handle) == 128);
  EXPECT_EQ(ours & 0xffffu, static_cast<unsigned>(MGSYNC_ABI_VERSION));
}
TEST(versions, of_no_handle_are_none) { EXPECT_NE(mgsync::multi_grid_handle{}.version, ours); }

}  // namespace
