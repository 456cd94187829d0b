// The reader of machine code and the code check, on instruction words as ptxas wrote them (compute
// capability 9.0) in a cubin that is put together here: what runs where there is no nvcc.
#include <algorithm>
#include <cstring>
#include <string>

#include <elf.h>
#include <gtest/gtest.h>

#include "src/probes/machine_code/code_check.hpp"
#include "src/probes/machine_code/opcodes.hpp"

namespace mgsync::machine_code { namespace {

// CS2R R4, SR_CLOCKLO: 64 bits; and CS2R.32 of the same.
constexpr instruction clock_64{0x0000000000047805, 0x000fe20000015000};
constexpr instruction clock_32{0x0000000000047805, 0x000fe20000005000};
constexpr instruction timer{0x0000000000067805, 0x000fcc0000015200};  // CS2R R6, SR_GLOBALTIMERLO
// SHFL.BFLY PT, R<d>, R<a>, 0x1, 0x1f: sets scoreboard 0, and waits for it.
constexpr instruction shuffle(unsigned d, unsigned a, bool waits = true) {
  return {0x0c201f0000007f89 | std::uint64_t{d} << 16 | std::uint64_t{a} << 24,
          waits ? 0x001e2800000e0000u : 0x000e2800000e0000u};
}
// ISETP.NE.U32.AND P0, PT, R<a>, R5, PT.
constexpr instruction compare(unsigned a, bool waits = true) {
  return {0x000000050000720c | std::uint64_t{a} << 24, waits ? 0x001fc4000bf05070u : 0x000fc4000bf05070u};
}
constexpr instruction add_floats{0x0000000005007221, 0x000fc80000000000};   // FADD R0, R5, R0; stall 4
constexpr instruction add_doubles{0x0000000004087229, 0x000fd00000000008};  // DADD R8, R4, R8; stall 8
constexpr instruction compare_r9{0x000000070900720c,
                                 0x020fe40003f05070};  // ISETP.NE.U32.AND P0, PT, R9, R7, PT
constexpr instruction exit_{0x000000000000794d, 0x000fea0003800000};
constexpr instruction branch_back{0xfffffffc00588947, 0x000fea000383ffff};  // @!P0 BRA 0x2a0 bytes back
constexpr instruction unknown{0x0000000000007fff, 0x000fe20000000000};

// A cubin with one kernel.
std::vector<std::byte> cubin_of(const std::string& kernel, const std::vector<instruction>& code,
                                unsigned architecture = 90) {
  const std::string names = std::string(1, '\0') + ".text." + kernel + '\0' + ".shstrtab" + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_flags = 0x6000004 | architecture << 8;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = code.size() * sizeof(instruction);
  sections[2].sh_name = static_cast<Elf64_Word>(2 + 6 + kernel.size());
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sections[1].sh_offset + sections[1].sh_size;
  sections[2].sh_size = names.size();
  header.e_shoff = sections[2].sh_offset + sections[2].sh_size;
  std::vector<std::byte> bytes(header.e_shoff + sizeof sections);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!code.empty()) std::memcpy(bytes.data() + sections[1].sh_offset, code.data(), sections[1].sh_size);
  std::memcpy(bytes.data() + sections[2].sh_offset, names.data(), names.size());
  std::memcpy(bytes.data() + header.e_shoff, sections, sizeof sections);
  return bytes;
}

expected_code chain(std::string opcode, unsigned links) {
  expected_code e;
  e.kernel = "probe";
  e.links = links;
  e.per_link = {{opcode, 1}};
  e.extras = {{"ISETP", 1}};
  e.result_of = opcode;
  return e;
}

std::string complaints(const std::vector<instruction>& code, const expected_code& expected,
                       unsigned architecture = 90) {
  const auto bytes = cubin_of("probe", code, architecture);
  std::string all;
  for (const auto& c : check_code(read_cubin(bytes), expected).complaints) all += c + "; ";
  return all;
}

const std::vector<instruction> sound = {timer,         clock_64,   shuffle(8, 0), shuffle(8, 8),
                                        shuffle(9, 8), compare(9), clock_64,      exit_};

TEST(instruction, control_fields_are_where_the_scheduler_has_them) {
  EXPECT_EQ(add_floats.opcode(), 0x221u);
  EXPECT_EQ(add_floats.name(), "FADD");
  EXPECT_EQ(add_floats.stall(), 4u);
  EXPECT_EQ(add_doubles.stall(), 8u);
  EXPECT_EQ(add_floats.write_scoreboard(), no_scoreboard);
  const auto s = shuffle(8, 8);
  EXPECT_EQ(s.write_scoreboard(), 0u);
  EXPECT_EQ(s.wait_mask(), 1u);
  EXPECT_EQ(s.guard(), true_predicate);
  EXPECT_EQ(branch_back.guard(), 0u);
  EXPECT_TRUE(branch_back.guard_negated());
}

TEST(instruction, only_the_64_bit_cycle_counter_is_a_clock_read) {
  EXPECT_TRUE(clock_64.reads_clock_64());
  EXPECT_FALSE(clock_32.reads_clock_64());
  EXPECT_TRUE(clock_32.reads_clock_32());
  EXPECT_FALSE(timer.reads_clock_64());
  EXPECT_FALSE(timer.reads_clock_32());
}

TEST(instruction, branches_go_where_the_disassembler_says) {
  EXPECT_EQ(branch_back.branch_offset(90), -0x2a0);
  EXPECT_EQ((instruction{0x0000000400902947, 0x008fea0003800000}.branch_offset(90)), 0x640);
  EXPECT_EQ((instruction{0xfffffff000007947, 0x000fc0000383ffff}.branch_offset(80)), -16);  // a loop of one
  EXPECT_EQ(add_floats.branch_offset(90), std::nullopt);
}

TEST(instruction, fences_and_strong_accesses_tell_their_scope) {
  EXPECT_EQ((instruction{0x0000000000007992, 0x000fec000000b000}.fence_scope()),
            scope::system);  // MEMBAR.ALL.SYS
  EXPECT_EQ((instruction{0x0000000000007992, 0x000fec000000a000}.fence_scope()),
            scope::gpu);  // MEMBAR.ALL.GPU
  EXPECT_EQ((instruction{0x0000000602057981, 0x000ea2000c1f5900}.access_scope()),
            scope::system);  // LDG.E.STRONG.SYS
  EXPECT_EQ((instruction{0x0000000f08007986, 0x0021e2000c115906}.access_scope()),
            scope::system);  // STG.E.STRONG.SYS
  EXPECT_EQ((instruction{0x0000000f080879a8, 0x002ea200081ee1c6}.access_scope()),
            scope::gpu);  // ATOMG.E.ADD.STRONG.GPU
  EXPECT_EQ((instruction{0x0000000608087981, 0x000ea8000c1e1900}.access_scope()), scope::none);  // LDG.E
  EXPECT_TRUE((instruction{0x00000000ff00798f, 0x03ffe20002000000}.invalidates_l1()));           // CCTL.IVALL
  EXPECT_EQ(add_floats.fence_scope(), scope::none);
  EXPECT_FALSE(add_floats.invalidates_l1());
}

TEST(operands, are_those_that_the_disassembler_prints) {
  const auto adds = operands_of(add_floats);
  const std::vector<register_name> read = {{register_name::file::general, 5},
                                           {register_name::file::general, 0}};
  EXPECT_EQ(adds.reads, read);
  EXPECT_EQ(adds.writes, (std::vector<register_name>{{register_name::file::general, 0}}));
  EXPECT_EQ(operands_of(add_doubles).writes.size(), 2u) << "a pair";
  EXPECT_FALSE(operands_of(unknown).known);
  const auto reads_p0 = [](const instruction& i) {
    const auto reads = operands_of(i).reads;
    return std::ranges::count(reads, register_name{register_name::file::predicate, 0}) != 0;
  };
  // ISETP.GT.U32.AND and ISETP.GT.AND.EX P0, PT, R7, RZ, PT, P0
  EXPECT_FALSE(reads_p0({0x000000275000720c, 0x000fc80003f04070}));
  EXPECT_TRUE(reads_p0({0x000000ff0700720c, 0x000fda0003f04100}));
  // PLOP3.LUT P2, PT, PT, PT, UP0, 0x80, 0x0: a uniform predicate is another one.
  const instruction of_uniform{0x000000000000781c, 0x000fe20003f4f008};
  EXPECT_FALSE(reads_p0(of_uniform));
  EXPECT_TRUE(reads_uniform_predicate(of_uniform));
  EXPECT_EQ(operands_of({0x0000000600007804, 0x010fe20000000000}).writes.size(), 2u) << "R2P PR, R0, 0x6";
}

TEST(cubin, what_is_none_is_said_to_be_none) {
  EXPECT_THROW(read_cubin({}), std::invalid_argument);
  EXPECT_THROW(
      read_cubin(std::as_bytes(std::span("not an ELF file, but as long as the header of one has to be...."))),
      std::invalid_argument);
  auto bytes = cubin_of("probe", sound);
  for (const std::size_t size : {std::size_t{40}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_THROW(read_cubin(std::span(bytes).first(size)), std::invalid_argument) << size;
}

TEST(cubin, has_its_kernels_and_its_architecture) {
  const auto image = read_cubin(cubin_of("probe", sound));
  EXPECT_EQ(image.architecture, 90u);
  ASSERT_NE(image.find("probe"), nullptr);
  EXPECT_EQ(image.find("probe")->code.size(), sound.size());
  EXPECT_EQ(image.find("another"), nullptr);
}

TEST(code_check, a_sound_chain_passes) { EXPECT_EQ(complaints(sound, chain("SHFL", 3)), ""); }

TEST(code_check, says_what_it_found) {
  const auto verdict = check_code(read_cubin(cubin_of("probe", sound)), chain("SHFL", 3));
  EXPECT_EQ(verdict.found, (counts{{"SHFL", 3}, {"ISETP", 1}}));
  EXPECT_EQ(verdict.instructions, 4u);
}

TEST(code_check, a_link_more_or_less_is_caught) {
  EXPECT_NE(complaints(sound, chain("SHFL", 4)), "");
  EXPECT_NE(complaints(sound, chain("SHFL", 2)), "");
}

TEST(code_check, a_32_bit_clock_is_caught) {
  auto code = sound;
  code[6] = clock_32;
  EXPECT_NE(complaints(code, chain("SHFL", 3)).find("32 bits"), std::string::npos);
}

TEST(code_check, a_link_that_does_not_take_the_one_before_is_caught) {
  auto code = sound;
  code[3] = shuffle(8, 0);
  EXPECT_NE(complaints(code, chain("SHFL", 3)).find("link 2 does not take"), std::string::npos);
}

TEST(code_check, a_second_read_that_does_not_wait_is_caught) {
  auto code = sound;
  code[5] = compare(9, false);
  EXPECT_NE(complaints(code, chain("SHFL", 3)).find("does not wait"), std::string::npos);
  code[5] = compare(0);
  EXPECT_NE(complaints(code, chain("SHFL", 3)).find("nothing takes"), std::string::npos);
}

TEST(code_check, what_is_not_in_the_table_is_caught) {
  auto code = sound;
  code.insert(code.begin() + 4, unknown);
  EXPECT_NE(complaints(code, chain("SHFL", 3)), "");
}

TEST(code_check, a_pair_is_taken_by_its_upper_half) {
  EXPECT_EQ(complaints({clock_64, add_doubles, add_doubles, compare_r9, clock_64, exit_}, chain("DADD", 2)),
            "");
}

TEST(code_check, stall_counts_are_the_prediction) {
  std::vector<instruction> code(102, add_floats);
  code.front() = clock_64;
  code.push_back(compare(0));
  code.push_back(clock_64);
  auto expected = chain("FADD", 101);
  expected.stall_per_link = {{0, 4}};
  EXPECT_EQ(complaints(code, expected), "");
  expected.stall_per_link = {{0, 5}};
  EXPECT_NE(complaints(code, expected), "");
  expected.stall_per_link = {{0, 5}, {90, 4}};
  EXPECT_EQ(complaints(code, expected), "");
}

TEST(code_check, elsewhere_clocks_and_stalls_are_all_that_is_looked_at) {
  auto code = sound;
  code[3] = unknown;
  EXPECT_EQ(complaints(code, chain("SHFL", 3), 100), "");
  code[6] = clock_32;
  EXPECT_NE(complaints(code, chain("SHFL", 3), 100), "");
}

TEST(code_check, blocking_links_need_no_result) {
  constexpr instruction barrier{0x0000000000007b1d, 0x000fec0000010000};
  expected_code e = chain("BAR", 2);
  e.result_of.clear();
  EXPECT_EQ(complaints({clock_64, barrier, barrier, compare(0), clock_64, exit_}, e), "");
  EXPECT_NE(complaints({clock_64, barrier, compare(0), clock_64, barrier, exit_}, e), "");
}

}}  // namespace mgsync::machine_code
