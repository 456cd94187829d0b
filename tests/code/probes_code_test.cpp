// The gate of every device-clock figure, run at build time: the machine code of each probe is what the probe
// says, on every architecture that was compiled; and probes that are wrong on purpose are caught. Needs nvcc,
// no GPU.
#include <set>

#include <gtest/gtest.h>

#include "src/probes/catalogue.hpp"
#include "tests/code/code_files.hpp"

namespace mgsync { namespace {

using machine_code::check_code;
using machine_code::code_verdict;
using machine_code::expected_code;

std::string complaints_of(const code_verdict& v) {
  std::string all;
  for (const auto& c : v.complaints) all += v.kernel + ": " + c + "\n";
  return all;
}

std::vector<expected_code> expectations(const std::string& source, unsigned architecture) {
  std::vector<expected_code> all;
  for (const auto& p : probes::probes_of(source))
    if (p.runs_on(architecture))
      for (auto& each : probes::code_of(p)) all.push_back(std::move(each));
  if (all.empty() && architecture >= 90) throw std::runtime_error("no entries of " + source);
  return all;
}

class probes_of : public testing::TestWithParam<code_file> {};

TEST_P(probes_of, are_what_they_say) {
  const auto image = read_code(GetParam().path);
  ASSERT_EQ(image.architecture, GetParam().architecture);
  std::size_t in_full = 0;
  for (const auto& expected : expectations(GetParam().probes, GetParam().architecture)) {
    const auto verdict = check_code(image, expected);
    EXPECT_TRUE(verdict.passed()) << complaints_of(verdict);
    if (verdict.looked_at == machine_code::depth::full) ++in_full;
  }
  EXPECT_EQ(in_full != 0, GetParam().architecture == 90);
}

// No kernel without an expectation: a probe whose code nobody looks at would have figures all the same.
TEST_P(probes_of, all_have_an_expectation) {
  std::set<std::string> expected;
  for (const auto& e : expectations(GetParam().probes, GetParam().architecture)) expected.insert(e.kernel);
  for (const auto& f : read_code(GetParam().path).functions) EXPECT_TRUE(expected.contains(f.name)) << f.name;
}

class probes_known_in_full : public testing::TestWithParam<code_file> {};

TEST_P(probes_known_in_full, have_a_name_for_every_opcode) {
  for (const auto& f : read_code(GetParam().path).functions)
    for (const auto& i : f.code) EXPECT_NE(i.name(), "") << f.name << ": opcode " << std::hex << i.opcode();
}

INSTANTIATE_TEST_SUITE_P(machine_code, probes_of, testing::ValuesIn(code_files(MGSYNC_PROBE_CUBINS)),
                         test_name);
INSTANTIATE_TEST_SUITE_P(machine_code, probes_known_in_full,
                         testing::ValuesIn(files_known_in_full(MGSYNC_PROBE_CUBINS)), test_name);

// A chain of 4096 adds: the stall counts are the known answers, 4 and 8 cycles a link.
TEST(machine_code, stall_counts_of_4096_adds_are_the_known_answers) {
  for (const auto& file : code_files(MGSYNC_PROBE_CUBINS)) {
    if (file.probes != "arithmetic") continue;
    const auto verdict = check_code(read_code(file.path),
                                    probes::code_of(probes::probe_called("arithmetic", "fp32_add"), 4096));
    EXPECT_NEAR(static_cast<double>(verdict.stall_sum), 4.0 * 4096, 8) << file.path;
  }
}

// Every single shot has a twin, as the compiler leaves it. Paper 002's region is refused for the two reasons
// that the paper found by hand; an instruction wherever its result is what the second read must wait for.
TEST(twins, are_refused_and_void_the_check_that_lets_them_pass) {
  std::size_t claims = 0;
  for (const auto& file : code_files(MGSYNC_PROBE_CUBINS)) {
    const auto image = read_code(file.path);
    for (const auto& p : probes::probes_of(file.probes)) {
      const auto twin = probes::claims_of_twin(p);
      if (!twin || !p.runs_on(file.architecture)) continue;
      const auto said = complaints_of(check_code(image, *twin));
      const auto where = file.path + " " + std::string(p.name) + "\n" + said;
      EXPECT_EQ(probes::read_code(image, p).complaint, "") << where;
      if (p.has(probes::corrected)) {
        EXPECT_NE(said.find("STS waits for LDG, which was begun before the first clock read"),
                  std::string::npos)
            << where;
      }
      if (file.architecture != machine_code::architecture_known_in_full || p.result_of.empty()) continue;
      EXPECT_NE(said.find("nothing takes the last result before the second clock read"), std::string::npos)
          << where;
      ++claims;
      // A kernel that is its own twin: the check of it says nothing.
      auto same = p;
      same.kernels = {p.has(probes::once) ? probes::once : probes::corrected, probes::as_compiled};
      same.extras = {{"ISETP", 1}, {"SEL", 2}};
      auto both = image;
      for (auto& f : both.functions)
        if (f.name == twin->kernel) f.code = image.find(p.kernel_name(same.kernels.front()))->code;
      EXPECT_NE(probes::read_code(both, same).complaint.find("lets it pass as the compiler leaves it"),
                std::string::npos)
          << where;
    }
  }
  EXPECT_GT(claims, 5U);
}

// The instructions of that name between a kernel's clock reads; with `before`, only those ahead of the first
// one of that name.
unsigned count_between_clocks(const machine_code::cubin& image, const char* kernel, std::string_view name,
                              std::string_view before = "") {
  const auto& code = image.find(kernel)->code;
  unsigned count = 0, reads = 0;
  for (const auto& i : code) {
    if (i.reads_clock_64() && ++reads == 2) break;
    if (reads == 1 && !before.empty() && i.name() == before) break;
    if (reads == 1) count += i.name() == name;
  }
  return count;
}

// 000, table V: without a barrier the second step loads before the first has stored, and only there; figure
// 10's loop of one load at a time holds one, and what the compiler makes of it more.
TEST(block_sums, without_a_barrier_loads_pass_stores_and_one_load_at_a_time_is_one) {
  for (const auto& file : code_files(MGSYNC_PROBE_CUBINS)) {
    if (file.probes != "block_sums" || file.architecture != machine_code::architecture_known_in_full)
      continue;
    const auto image = read_code(file.path);
    EXPECT_GT(count_between_clocks(image, "warp_nosync", "LDS", "STS"), 2U);
    for (const char* kernel : {"warp_volatile", "warp_tile", "warp_coalesced"})
      EXPECT_EQ(count_between_clocks(image, kernel, "LDS", "STS"), 2U) << kernel;
    EXPECT_EQ(count_between_clocks(image, "loop_one_load", "LDS"), 1U);
    EXPECT_GT(count_between_clocks(image, "loop_as_compiled", "LDS"), 4U);
  }
}

expected_code eight_shuffles(const std::string& kernel) {
  expected_code e;
  e.kernel = kernel + "_8";
  e.links = 8;
  e.per_link = {{"SHFL", 1}};
  e.extras = {{"ISETP", 1}};
  e.result_of = "SHFL";
  return e;
}

bool complains_of(const std::string& kernel, const std::string& part) {
  const auto verdict = check_code(read_code(MGSYNC_WRONG_PROBES), eight_shuffles(kernel));
  return complaints_of(verdict).find(part) != std::string::npos;
}

TEST(wrong_probes, a_sound_one_passes) {
  const auto verdict = check_code(read_code(MGSYNC_WRONG_PROBES), eight_shuffles("sound"));
  EXPECT_TRUE(verdict.passed()) << complaints_of(verdict);
}
TEST(wrong_probes, uniform_input_is_caught) { EXPECT_TRUE(complains_of("uniform_input", "0 SHFL between")); }
TEST(wrong_probes, the_32_bit_clock_is_caught) {
  EXPECT_TRUE(complains_of("clock_of_32_bits", "32 bits"));
  EXPECT_TRUE(complains_of("clock_of_32_bits", "0 64-bit clock reads"));
}
TEST(wrong_probes, no_dependence_is_caught) {
  EXPECT_TRUE(complains_of("no_dependence", "does not take the result"));
}
TEST(wrong_probes, a_read_that_does_not_wait_is_caught) {
  EXPECT_TRUE(complains_of("not_waited_for", "nothing takes the last result"));
}
TEST(wrong_probes, more_than_the_links_is_caught) {
  EXPECT_TRUE(complains_of("more_than_said", "where at most 0 may be"));
}
TEST(wrong_probes, a_loop_that_says_it_is_a_chain_is_caught) {
  auto chain = eight_shuffles("sound");
  chain.kernel = "sound_loop_256";
  EXPECT_NE(complaints_of(check_code(read_code(MGSYNC_WRONG_PROBES), chain))
                .find("a loop between the clock reads of a chain"),
            std::string::npos);
}
TEST(wrong_probes, work_that_left_its_barrier_is_caught) {
  expected_code e;
  e.kernel = "work_that_moves_8";
  e.links = 8;
  e.per_link = {{"UCGABAR_ARV", 1}, {"UCGABAR_WAIT", 1}, {"CCTL", 1}, {"FADD", 4}};
  e.extras = {{"ISETP", 1}};
  EXPECT_EQ(complaints_of(check_code(read_code(MGSYNC_WRONG_PROBES), e)), "");
  e.enclosed = {"UCGABAR_ARV", "FADD", "UCGABAR_WAIT"};
  EXPECT_NE(complaints_of(check_code(read_code(MGSYNC_WRONG_PROBES), e))
                .find("FADD outside of UCGABAR_ARV and UCGABAR_WAIT"),
            std::string::npos);
}
TEST(wrong_probes, a_missing_kernel_is_caught) { EXPECT_TRUE(complains_of("nobody", "no kernel nobody_8")); }

}}  // namespace mgsync
