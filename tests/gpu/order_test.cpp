// What no run can show on a GPU: that every flag goes out behind a release that reaches whom it is for, and
// that what was polled is acquired, by all lanes that speak. Read from what the compiler made: of the
// library's sync(), and of its barrier in two calls, in PTX, along every path, for both scopes and all
// shapes, with fences of one direction (compute capability 9.0) and with full ones (8.0); of the backends' in
// machine code too. Kernels weakened on purpose must be caught. Needs no GPU and no disassembler.
#include <algorithm>
#include <fstream>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <mgsync/multi_grid_handle.hpp>

#include "src/probes/machine_code/cubin.hpp"
#include "tests/gpu/ptx_reader.hpp"

namespace {

using mgsync::test::reach;

std::string contents(const char* file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

enum class fences { one_sided, full };

// Empty, or what is wrong with the barrier of `policy` at `shape`, in PTX.
std::string wrong_in_ptx(const std::string& policy, const std::string& shape,
                         fences how = fences::one_sided) {
  static const auto one_sided = mgsync::test::read_ptx(contents(MGSYNC_ORDER_PTX)),
                    full = mgsync::test::read_ptx(contents(MGSYNC_ORDER_PTX_8));
  const auto& kernels = how == fences::full ? full : one_sided;
  const auto found = kernels.find(policy + "_" + shape);
  if (found == kernels.end()) return "no kernel " + policy + "_" + shape;
  const bool alone = shape.rfind("alone", 0) == 0;
  return what_is_wrong(found->second, alone ? reach::gpu : reach::system,
                       shape.rfind("alone_counter", 0) != 0);
}

const std::vector<std::string> shapes = {"system_one_block", "system_counted", "system_spread",
                                         "alone_counted",    "alone_spread",   "alone_counter"};

// By f(shape, its kernel's name behind the policy's, fences): each shape in one call and in two.
template <class F>
void at_each(F f) {
  for (const auto& shape : shapes)
    for (const char* calls : {"", "_in_two"})
      for (const auto how : {fences::one_sided, fences::full}) f(shape, shape + calls, how);
}

TEST(order, of_what_ships_is_right_at_every_shape) {
  at_each([](const auto&, const auto& kernel, fences how) {
    for (const char* policy : {"multi_grid_policy", "multi_grid_policy_with_word"})
      EXPECT_EQ(wrong_in_ptx(policy, kernel, how), "")
          << policy << " at " << kernel << (how == fences::full ? ", full fences" : "");
  });
}
TEST(order, of_the_backends_is_right) {
  for (const auto* shape : {"system_counted", "system_spread", "alone_counter"})
    EXPECT_EQ(wrong_in_ptx("backend_policy", shape), "") << shape;
}

struct twin {
  std::string policy;
  std::vector<std::string>
      caught_at;                 // at all others it is sound: the half that is missing is not needed there
  bool with_full_fences = true;  // there too; else its polls acquire by themselves
};

class weakened : public testing::TestWithParam<twin> {};

TEST_P(weakened, is_caught_where_it_matters_and_nowhere_else) {
  at_each([](const auto& shape, const auto& kernel, fences how) {
    const auto& at = GetParam().caught_at;
    const bool caught = std::find(at.begin(), at.end(), shape) != at.end() &&
                        (how == fences::one_sided || GetParam().with_full_fences);
    const auto why = wrong_in_ptx(GetParam().policy, kernel, how);
    EXPECT_EQ(!why.empty(), caught) << GetParam().policy << " at " << kernel
                                    << (how == fences::full ? ", full fences: " : ": ") << why;
  });
}

INSTANTIATE_TEST_SUITE_P(
    twins, weakened,
    testing::Values(
        twin{"no_release",
             {"system_one_block", "system_counted", "system_spread", "alone_counted", "alone_spread"}},
        twin{"narrow_release", {"system_one_block", "system_counted", "system_spread"}},
        twin{"no_acquire", shapes, false}, twin{"relaxed_polls", shapes},
        // A block alone saw no counter, and the spread counter's blocks speak for themselves: nothing to
        // acquire.
        twin{"no_acquire_of_the_counter",
             {"system_counted", "system_spread", "alone_counted", "alone_spread"},
             false},
        twin{"no_team_barrier", {"system_counted", "system_spread", "alone_counted", "alone_spread"}},
        twin{"no_arrival_release",
             {"system_counted", "system_spread", "alone_counted", "alone_spread", "alone_counter"}},
        twin{"no_block_barrier", shapes}),
    [](const auto& which) { return which.param.policy; });

// --- machine code: of kernels so straight that "the nearest before" is what runs before.

std::string wrong_in_machine_code(const std::string& kernel) {
  using mgsync::machine_code::scope;
  static const std::string bytes = contents(MGSYNC_ORDER_CUBIN);
  static const auto image = mgsync::machine_code::read_cubin(std::as_bytes(std::span(bytes)));
  const auto* const code = image.find(kernel);
  if (code == nullptr) return "no kernel " + kernel;
  std::size_t stores = 0, polls = 0;
  bool fenced = false, polled = false;
  for (const auto& i : code->code) {
    if (i.fence_scope() != scope::none) fenced = i.fence_scope() == scope::system;
    if (i.invalidates_l1()) polled = false;
    if (i.access_scope() != scope::system) continue;
    if (i.name().starts_with("ST")) {
      ++stores;
      if (!fenced) return "a flag store without a system fence before it";
    } else if (i.name().starts_with("LD")) {
      ++polls;
      polled = true;
    }
  }
  if (stores == 0) return "no flag store of system scope";
  if (polls == 0) return "no poll of system scope";
  return polled ? "the last poll has no acquire after it" : "";
}

TEST(order_in_machine_code, of_the_backends_is_right_and_weakened_ones_are_caught) {
  EXPECT_EQ(wrong_in_machine_code("backend_policy_system_counted"), "");
  EXPECT_NE(wrong_in_machine_code("backend_no_release_system_counted"), "");
  EXPECT_NE(wrong_in_machine_code("backend_narrow_release_system_counted"), "");
  EXPECT_NE(wrong_in_machine_code("backend_no_acquire_system_counted"), "");
}

// --- what waits

// Empty, or what is wrong with the loops that poll: there are to be two at each call of sync() (one that all
// blocks wait in, one of the block that speaks for spread arrivals), of one load each, with nothing in them
// that gathers the warp from two ways (BREAK) and nothing of the kernel's kept in local memory. `calls`: of
// sync() in the kernel.
std::string wrong_with_polling(const std::string& kernel, unsigned calls) {
  using mgsync::machine_code::scope;
  static const std::string bytes = contents(MGSYNC_ORDER_CUBIN);
  static const auto image = mgsync::machine_code::read_cubin(std::as_bytes(std::span(bytes)));
  const auto* const found = image.find(kernel);
  if (found == nullptr) return "no kernel " + kernel;
  const auto& code = found->code;
  unsigned loops = 0;
  for (std::size_t end = 0; end < code.size(); ++end) {
    if (code[end].name() == "STL" || code[end].name() == "LDL") return "something is kept in local memory";
    const auto offset =
        code[end].name() == "BRA" ? code[end].branch_offset(image.architecture) : std::nullopt;
    if (!offset || *offset >= -16) continue;
    const auto begin = static_cast<std::size_t>(static_cast<std::int64_t>(end) + 1 + *offset / 16);
    unsigned loads = 0;
    bool innermost = true, stores = false, gathers = false;
    for (std::size_t i = begin; i < end; ++i) {
      const auto name = code[i].name();
      if (code[i].access_scope() != scope::none && name.starts_with("LD")) ++loads;
      stores = stores || name.starts_with("ST");
      gathers = gathers || name == "BREAK";
      const auto inner = name == "BRA" ? code[i].branch_offset(image.architecture) : std::nullopt;
      innermost = innermost && !(inner && *inner < 0);
    }
    if (!innermost || loads == 0 || stores) continue;
    ++loops;
    if (loads != 1) return "a loop polls " + std::to_string(loads) + " times a turn";
    if (gathers) return "a loop gathers the warp anew";
  }
  return loops == 2 * calls
             ? ""
             : std::to_string(loops) + " polling loops for " + std::to_string(calls) + " calls";
}

TEST(polling, of_a_kernel_with_three_calls_is_as_tight_as_of_one) {
  EXPECT_EQ(wrong_with_polling("one_call", 1), "");
  EXPECT_EQ(wrong_with_polling("two_calls", 2), "");
  EXPECT_EQ(wrong_with_polling("three_calls", 3), "");
}
TEST(polling, twice_a_turn_is_noticed) { EXPECT_NE(wrong_with_polling("one_call_polls_twice", 1), ""); }

// What ptxas -v tells of a kernel: local and shared memory, registers.
std::string properties_of(const std::string& kernel) {
  const auto text = contents(MGSYNC_ORDER_REGISTERS);
  const auto begin = text.find("Function properties for " + kernel + "\n");
  if (begin == std::string::npos) return "nothing";
  return text.substr(begin, text.find('\n', text.find("Used", begin)) - begin);
}

// --- the verdict: told by the barrier, or in a word of shared memory that the kernel gives. Without one a
// group takes none.

TEST(verdict, is_told_by_the_barrier_or_asked_behind_it) {
  for (const char* file : {MGSYNC_ORDER_PTX, MGSYNC_ORDER_PTX_8}) {
    const auto kernels = mgsync::test::read_ptx(contents(file));
    for (const auto& [kernel, calls] :
         {std::pair("one_call", 1), std::pair("two_calls", 2), std::pair("three_calls", 3)})
      for (const bool word : {false, true}) {
        const auto& code = kernels.at(std::string(kernel) + (word ? "_with_word" : ""));
        const auto count = [&](const char* opcode) {
          return std::count_if(code.begin(), code.end(),
                               [&](const auto& i) { return i.opcode.rfind(opcode, 0) == 0; });
        };
        EXPECT_EQ(count("bar.red.or"), word ? 1 : calls + 1)
            << kernel << ": one for each call, and one as the group is made";
        EXPECT_EQ(
            std::count_if(code.begin(), code.end(),
                          [](const auto& i) { return i.guard == "asks" && i.opcode == "ld.shared.u32"; }),
            word ? calls : 0)
            << kernel;
      }
  }
}
TEST(shared_memory, is_the_kernels_own) {
  EXPECT_EQ(properties_of("three_calls").find("smem"), std::string::npos) << properties_of("three_calls");
  EXPECT_NE(properties_of("three_calls_with_word").find(" 4 bytes smem"), std::string::npos)
      << properties_of("three_calls_with_word");
}

// --- whether the group gave up before the kernel began, and whether another group of the block's is in use:
// asked once, as the group is made, by a piece of code that the compiler may put anywhere.

TEST(given_up_and_in_use, are_asked_once_as_the_group_is_made) {
  const auto kernels = mgsync::test::read_ptx(contents(MGSYNC_ORDER_PTX));
  for (const char* kernel : {"one_call", "two_calls", "three_calls"}) {
    const auto& code = kernels.at(kernel);
    const auto takes = [](const auto& i) { return i.opcode.find(".exch.") != std::string::npos; };
    const auto taken = std::find_if(code.begin(), code.end(), takes);
    EXPECT_EQ(std::count_if(code.begin(), code.end(), takes), 1) << kernel;
    unsigned questions = 0;
    for (auto i = taken; i != code.begin() && i->opcode != "bra.uni" && i->opcode.rfind("bar.", 0) != 0; --i)
      questions += i->opcode.rfind("ld.volatile.global.u32", 0) == 0 ? 1 : 0;
    EXPECT_EQ(questions, 1u) << kernel;
  }
}

// --- a handle of another version: asked ahead of anything else of it that is in memory.

TEST(version, is_asked_before_the_handles_addresses_are_read) {
  const auto text = contents(MGSYNC_ORDER_PTX);
  for (const char* kernel : {"one_call", "two_calls", "three_calls"}) {
    const auto begin = text.find(std::string(".entry ") + kernel + "(");
    ASSERT_NE(begin, std::string::npos) << kernel;
    const auto asked = text.find(std::to_string(mgsync::multi_grid_handle::this_version), begin);
    const auto read = std::min(text.find("ld.volatile.global", begin), text.find("ld.global", begin));
    EXPECT_LT(asked, read) << kernel;
  }
}

// --- what a group costs a kernel, as the compiler says it

// As ptxas -v tells; 0 where it does not know the kernel.
unsigned registers_of(const std::string& kernel) {
  std::istringstream text(contents(MGSYNC_ORDER_REGISTERS));
  const std::regex used(R"(Used (\d+) registers)");
  bool inside = false;
  std::smatch found;
  for (std::string line; std::getline(text, line);) {
    if (line.find("Compiling entry function") != std::string::npos)
      inside = line.find("'" + kernel) != std::string::npos;
    if (inside && std::regex_search(line, found, used)) return static_cast<unsigned>(std::stoul(found[1]));
  }
  return 0;
}

// The group's own fields alone. Where the handle is not a __grid_constant__, all of it is copied there too:
// 176 bytes.
TEST(local_memory, of_a_group_that_is_passed_on_by_reference) {
  EXPECT_NE(properties_of("by_reference").find(" 48 bytes stack frame"), std::string::npos)
      << properties_of("by_reference");
}

// 32 registers are 2048 threads on an SM.
TEST(registers, of_a_kernel_with_one_to_three_barriers) {
  for (const char* kernel : {"one_call", "two_calls", "three_calls", "one_call_with_word",
                             "two_calls_with_word", "three_calls_with_word"}) {
    EXPECT_GT(registers_of(kernel), 0u) << kernel;
    EXPECT_LE(registers_of(kernel), 32u) << kernel;
  }
}
TEST(registers, of_the_jacobi_example) {
  EXPECT_GT(registers_of("_Z6jacobi"), 0u);
  EXPECT_LE(registers_of("_Z6jacobi"), 32u);
}

}  // namespace
