// The machine code of the products' kernels, read from the object files that are linked: no GPU, no
// disassembler.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/code/code_files.hpp"

namespace mgsync::machine_code { namespace {

// Opcodes of compute capability 9.0, as ptxas of CUDA 13 writes them.
constexpr std::initializer_list<unsigned> hgmma = {0x9f0}, hmma = {0x23c}, tensor_copy = {0x5b4},
                                          asynchronous_copy = {0xfae}, mbarrier = {0x5a7, 0x5b2, 0x9a7},
                                          spill = {0x387, 0x983};

std::size_t count(const function& f, std::initializer_list<unsigned> opcodes) {
  return static_cast<std::size_t>(std::count_if(f.code.begin(), f.code.end(), [&](const instruction& i) {
    return std::find(opcodes.begin(), opcodes.end(), i.opcode()) != opcodes.end();
  }));
}

// The numbers of a kernel's template arguments, in order: "...ILi64ELi128ELi64E..." gives 64, 128, 64.
std::vector<int> template_numbers(const std::string& name) {
  std::vector<int> numbers;
  for (std::size_t at = name.find("Li"); at != std::string::npos; at = name.find("Li", at + 2))
    numbers.push_back(std::atoi(name.c_str() + at + 2));
  return numbers;
}

TEST(wgmma_kernels, hold_warpgroup_products_tensor_copies_and_mbarriers_and_spill_nothing) {
  const auto found = cubins_in(MGSYNC_WGMMA_OBJECT);
  ASSERT_EQ(found.size(), 1u) << "one architecture, sm_90a";
  EXPECT_EQ(found.front().architecture, 90u);
  ASSERT_EQ(found.front().functions.size(), 12u + 1) << "instantiations, and a recorded one";
  for (const function& f : found.front().functions) {
    const auto numbers = template_numbers(f.name);
    ASSERT_GE(numbers.size(), 3u) << f.name;
    const auto depth = static_cast<std::size_t>(numbers[2]);
    EXPECT_EQ(count(f, hgmma), depth / 16) << f.name;            // one per 16 elements of k, unrolled
    EXPECT_EQ(count(f, tensor_copy), 2 * depth / 64) << f.name;  // A and B by boxes of 64
    EXPECT_GT(count(f, mbarrier), 4u) << f.name;
    EXPECT_EQ(count(f, hmma), 0u) << f.name;
    EXPECT_EQ(count(f, spill), 0u) << f.name;
  }
}

TEST(mma_kernels, hold_warp_products_and_asynchronous_copies_and_spill_nothing) {
  const auto found = cubins_in(MGSYNC_MMA_OBJECT);
  ASSERT_FALSE(found.empty());
  for (const cubin& one : found) {
    if (one.architecture != 80 && one.architecture != 90) continue;
    ASSERT_EQ(one.functions.size(), 8u) << "instantiations";
    for (const function& f : one.functions) {
      const auto n = template_numbers(f.name);
      ASSERT_GE(n.size(), 3u) << f.name;
      // Four warps, each a quarter of the tile, 16 x 8 x 16 at a time.
      EXPECT_EQ(count(f, hmma), static_cast<std::size_t>(n[0] / 32 * (n[1] / 16) * (n[2] / 16))) << f.name;
      EXPECT_GT(count(f, asynchronous_copy), 0u) << f.name;
      EXPECT_EQ(count(f, spill), 0u) << f.name;
    }
  }
}

}}  // namespace mgsync::machine_code
