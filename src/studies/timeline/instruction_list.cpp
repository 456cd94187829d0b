#include "src/studies/timeline/instruction_list.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace mgsync::timelines {

namespace {

using machine_code::counts;
using machine_code::expected_code;

instruction make(std::string name, std::string_view what, std::string_view published, counts per_link,
                 std::string result_of) {
  instruction i;
  i.name = std::move(name);
  i.what = what;
  i.published = published;
  i.per_link = std::move(per_link);
  i.result_of = std::move(result_of);
  return i;
}

std::vector<instruction> make_instructions() {
  std::vector<instruction> all;
  auto& nothing = all.emplace_back(make("nothing", "two clock reads, nothing between", "", {}, ""));
  nothing.chained = false;
  all.push_back(make("store_load", "store and load, shared memory", "", {{"STS", 1}, {"LDS", 1}}, "LDS"));
  auto& region =
      all.emplace_back(make("store_barrier_load", "store, block barrier, load",
                            "56 - 58 once: sm_75, paper 002", {{"STS", 1}, {"BAR", 1}, {"LDS", 1}}, "LDS"));
  region.varied = "warps";
  region.published_at = 4;
  all.emplace_back(make("store_issue", "stores to shared memory, one behind the other", "", {{"STS", 1}}, ""))
      .once = false;
  all.emplace_back(make("bank_conflict", "load, lanes that want one bank", "29.0: H100", {{"LDS", 1}}, "LDS"))
      .varied = "ways";
  all.push_back(make("constant_chase", "constant memory", "", {{"LDC", 1}}, "LDC"));
  all.push_back(make("matrix_load", "ldmatrix", "", {{"LDSM", 1}}, "LDSM"));
  auto& multiply =
      all.emplace_back(make("matrix_multiply", "mma.m16n8k16, halves", "24: H100", {{"HMMA", 1}}, "HMMA"));
  multiply.extras_per_link = {{"NOP", 1}};
  multiply.oldest = 80;
  for (const auto& [name, what, published] :
       {std::tuple{"warpgroup_multiply_8", "wgmma.m64n8k16, halves, waited for", ""},
        std::tuple{"warpgroup_multiply_256", "wgmma.m64n256k16, halves, waited for", "128: H100"}}) {
    auto& group = all.emplace_back(make(name, what, published, {{"HGMMA", 1}, {"WARPGROUP", 2}}, ""));
    group.extras_per_link = {{"UMOV", 3}, {"NOP", 1}, {"S2UR", 1}, {"ULEA", 1}, {"USHF", 1}, {"ULOP3", 1}};
    group.once = false;
    group.threads = 128;
    group.oldest = group.newest = 90;
  }
  for (const auto* const name : {"copy_8_bytes", "copy_16_bytes"}) {
    auto& copy = all.emplace_back(make(name,
                                       name == std::string_view("copy_8_bytes")
                                           ? "cp.async of 8 bytes through L1, wait, load"
                                           : "cp.async of 16 bytes past L1, wait, load",
                                       "", {{"LDGSTS", 1}, {"LDGDEPBAR", 1}, {"DEPBAR", 1}}, ""));
    // The compiler puts loads in front of each copy that never execute.
    copy.extras_per_link = {{"LDS", 4}};
    copy.oldest = 80;
  }
  const counts retries = {{"MOV", 3},   {"SHF", 1},   {"ISETP", 1}, {"BRA", 3},
                          {"YIELD", 1}, {"VIADD", 1}, {"IADD3", 1}};
  auto& bulk =
      all.emplace_back(make("bulk_copy", "TMA, 16 bytes from L2, until the mbarrier says so, load",
                            "about 170 over a load: H100", {{"SYNCS", 2}, {"UBLKCP", 1}, {"LDS", 1}}, ""));
  bulk.extras_per_link = retries;
  for (const auto& [opcode, most] :
       counts{{"R2UR", 2}, {"ELECT", 1}, {"PLOP3", 3}, {"UIADD3", 1}, {"UMOV", 2}})
    bulk.extras_per_link[opcode] = most;
  auto& remote = all.emplace_back(make("remote_store", "store into another block, until its mbarrier says so",
                                       "180: SM to SM, H800", {{"SYNCS", 2}, {"STAS", 1}}, ""));
  remote.extras_per_link = retries;
  remote.cluster = 2;
  for (auto* const one : {&all[all.size() - 2], &all.back()}) {
    one->oldest = 90;
    one->once = false;
    one->side_paths = true;
  }
  return all;
}

counts times(const counts& each, std::uint64_t links) {
  counts all;
  for (const auto& [name, n] : each) all[name] = n * links;
  return all;
}

expected_code chain(const instruction& i, unsigned links) {
  expected_code e;
  e.kernel = i.name + "_" + std::to_string(links);
  e.links = links;
  e.per_link = i.per_link;
  e.extras = times(i.extras_per_link, links);
  e.extras["ISETP"] += 1;
  e.result_of = i.result_of;
  e.side_paths = i.side_paths;
  return e;
}

void prepare(expected_code& e) {
  e.extras["ISETP"] += 1;  // makes the clock read wait for the last result
  e.extras["SEL"] += 2;    // selects the first stamp, or 0 where there is no sample
  e.prepared = true;
}

expected_code single_shot(const instruction& i) {
  expected_code e;
  e.kernel = i.name + "_once";
  e.per_link = i.per_link;
  e.extras = i.extras_per_link;
  e.extras["MOV"] += 2;
  e.result_of = i.result_of;
  prepare(e);
  return e;
}

}  // namespace

std::span<const instruction> instructions() {
  static const auto all = make_instructions();
  return all;
}

const instruction& instruction_called(std::string_view name) {
  for (const auto& i : instructions())
    if (i.name == name) return i;
  throw std::invalid_argument("no instruction " + std::string(name) + " in instructions.cu");
}

std::string pair_kernel(const lone_instruction& first, const lone_instruction& second) {
  return std::string(first.name) + "_beside_" + std::string(second.name);
}

std::vector<expected_code> code_of(const instruction& i) {
  std::vector<expected_code> all;
  if (i.chained)
    for (const unsigned links : chain_lengths) all.push_back(chain(i, links));
  if (!i.once) return all;
  all.push_back(single_shot(i));
  // The twin has the same instructions, but nothing is required of what waits for them.
  expected_code twin;
  twin.kernel = i.name + "_as_compiled";
  twin.per_link = i.per_link;
  twin.extras = i.extras_per_link;
  twin.extras["MOV"] += 2;
  all.push_back(twin);
  return all;
}

expected_code twin_claims(const instruction& i) {
  auto e = single_shot(i);
  e.kernel = i.name + "_as_compiled";
  return e;
}

std::vector<expected_code> code_of_pairs() {
  std::vector<expected_code> all;
  const auto add = [&all](std::string kernel, counts opcodes, std::string result_of, std::uint64_t joined) {
    auto& e = all.emplace_back();
    e.kernel = std::move(kernel);
    e.per_link = std::move(opcodes);
    e.result_of = std::move(result_of);
    if (joined != 0) e.extras["LOP3"] = joined;  // combines both results
    prepare(e);
  };
  for (const unsigned links : {4u, 32u}) {
    add("pair_chased_loads_" + std::to_string(links), {{"LDS", 1}}, "LDS", 0);
    all.back().links = links;
  }
  for (std::size_t a = 0; a < lone_instructions.size(); ++a) {
    const auto& first = lone_instructions[a];
    add("alone_" + std::string(first.name), {{std::string(first.opcode), 1}}, std::string(first.opcode), 1);
    for (std::size_t b = a + 1; b < lone_instructions.size(); ++b) {
      const auto& second = lone_instructions[b];
      add(pair_kernel(first, second), {{std::string(first.opcode), 1}, {std::string(second.opcode), 1}},
          std::string(first.opcode), 1);
    }
  }
  return all;
}

std::vector<expected_code> instruction_code(unsigned architecture) {
  auto all = code_of_pairs();
  for (const auto& i : instructions())
    if (i.oldest <= architecture && (i.newest == 0 || architecture <= i.newest))
      for (auto& e : code_of(i)) all.push_back(std::move(e));
  return all;
}

}  // namespace mgsync::timelines
