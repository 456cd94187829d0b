#include "src/probes/catalogue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mgsync::probes {

namespace {

using machine_code::counts;
using machine_code::expected_code;

counts with(counts a, const counts& b) {
  for (const auto& [name, n] : b) a[name] += n;
  return a;
}

// Finds the lanes of a tile's mask, once before the chain; the slope does not contain it.
counts of_tile(unsigned size) {
  if (size == 32) return {};
  return {{"MOV", 2},   {"IMAD", 1},  {"VOTEU", 1}, {"SHF", 1},
          {"MATCH", 1}, {"REDUX", 1}, {"LOP3", 1},  {"BRA", 1}};
}
// Tests whether the lanes are converged, once before the chain.
const counts are_together = {{"UMOV", 1}, {"MOV", 1}, {"BRA", 1}};
// Computes the address of shared memory, which on Hopper includes the block's rank in its cluster.
const counts shared_address = {{"S2UR", 1}, {"UMOV", 1}, {"ULEA", 1}};
// Turns a barrier's result back into each thread's own word, in up to 256 links.
const counts back_to_own_word = {{"MOV", 512}, {"IMAD", 256}, {"IADD3", 256}, {"VIADD", 256}};
// The address, and branches by which the other lanes skip what one thread alone does, in up to 32 links.
const counts around_one_thread =
    with(shared_address, {{"BSSY", 32}, {"BSYNC", 32}, {"BRA", 32}, {"MOV", 96}, {"SHF", 2}});
const counts in_one_lane = {{"PLOP3", 128}, {"ULDC", 64},  {"UMOV", 64},
                            {"VOTEU", 2},   {"UIADD3", 1}, {"ULEA", 1}};
// A wait that gives up after many tries.
const counts retries = {{"MOV", 3},   {"SHF", 1},   {"ISETP", 1}, {"BRA", 3},
                        {"YIELD", 1}, {"VIADD", 1}, {"IADD3", 1}};

// An entry as the host reads it.
#define MGSYNC_LIST(...) __VA_ARGS__
#define MGSYNC_PROBE(since, its_name, Op, its_form, its_kernels, ...)                                        \
  probe{.name = #its_name,                                                                                   \
        .oldest = number_of(#since),                                                                         \
        .form = form::its_form,                                                                              \
        .kernels = {MGSYNC_LIST its_kernels},                                                                \
        __VA_ARGS__},
#define MGSYNC_PROBE_ALONE(since, its_name, Op, its_form, ...)                                               \
  MGSYNC_PROBE(since, its_name, Op, its_form, (alone), __VA_ARGS__)
#define MGSYNC_CLUSTER_PROBE(blocks, its_name, Op, its_form, its_kernels, ...)                               \
  MGSYNC_PROBE(90, its_name, Op, its_form, its_kernels, .cluster = blocks, __VA_ARGS__)

// "90a", whose features 9.0 alone has, is 90.
unsigned number_of(std::string_view architecture) {
  return static_cast<unsigned>(10 * (architecture[0] - '0') + (architecture[1] - '0'));
}

std::vector<probe> all_entries() {
  std::vector<probe> all;
  const auto add = [&all](std::string_view source, std::vector<probe> entries) {
    for (auto& one : entries) {
      one.source = source;
      for (const int kernel : one.kernels)
        if (kernel > 0) one.lengths.push_back(static_cast<unsigned>(kernel));
      all.push_back(std::move(one));
    }
  };
  add("warp", {
#include "src/probes/catalogue/warp.inc"
              });
  add("block", {
#include "src/probes/catalogue/block.inc"
               });
  add("cluster", {
#include "src/probes/catalogue/cluster.inc"
                 });
  add("memory", {
#include "src/probes/catalogue/memory.inc"
                });
  add("arithmetic", {
#include "src/probes/catalogue/arithmetic.inc"
                    });
  add("unrolled", {
#include "src/probes/catalogue/unrolled.inc"
                  });
  add("region", {
#include "src/probes/catalogue/region.inc"
                });
  add("instructions", {
#include "src/probes/catalogue/instructions.inc"
                      });
  add("pairs", {
#include "src/probes/catalogue/pairs.inc"
               });
  add("block_sums", {
#include "src/probes/catalogue/block_sums.inc"
                    });
  return all;
}

// Makes the second clock read wait for the last result; and gives the first stamp, or 0 where there is no
// sample.
const counts waits_for_the_result = {{"ISETP", 1}}, chooses_the_stamp = {{"SEL", 2}};
// The loop counter: set to zero, increment, compare, and the branch back.
const counts of_a_loop = {{"ISETP", 1}, {"UMOV", 1}, {"MOV", 1}, {"UIADD3", 1}, {"VIADD", 1}, {"BRA", 1}};

}  // namespace

link_kind probe::kind() const {
  if (library) return link_kind::library;
  if (!result_of.empty()) return link_kind::chain;
  const bool nothing = per_link == counts{{"NOP", 1}} && form != form::two_branches;
  return nothing ? link_kind::no_instruction : link_kind::barrier;
}

bool probe::has(int kernel) const { return std::ranges::find(kernels, kernel) != kernels.end(); }

std::string probe::kernel_name(int kernel) const {
  const std::string begin(name);
  switch (kernel) {
  case alone: return begin;
  case loop_256: return begin + "_loop_256";
  case once: return begin + "_once";
  case corrected: return begin + "_corrected";
  case as_compiled: return begin + "_as_compiled";
  default: return begin + "_" + std::to_string(kernel);
  }
}

std::span<const probe> probes_of(std::string_view source) {
  static const auto all = all_entries();
  const auto has_it = [source](const probe& p) { return p.source == source; };
  const auto first = std::ranges::find_if(all, has_it);
  return {first, std::find_if_not(first, all.end(), has_it)};
}

const probe& probe_called(std::string_view source, std::string_view name) {
  const auto those = probes_of(source);
  const auto found = std::ranges::find(those, name, &probe::name);
  if (found == those.end())
    throw std::invalid_argument("no probe " + std::string(name) + " of " + std::string(source));
  return *found;
}

expected_code code_of(const probe& p, int kernel) {
  expected_code e;
  e.kernel = p.kernel_name(kernel);
  e.library_code = p.library;
  e.per_link = p.per_link;
  const bool is_region = p.form == form::part_of_region || p.form == form::parts_of_region;
  const bool is_single = kernel == once || (kernel == as_compiled && !is_region);
  e.links = kernel > 0 ? static_cast<std::uint64_t>(kernel) : kernel == loop_256 ? 256 : 1;
  e.extras = p.extras;
  for (const auto& [opcode, n] : p.extras_per_link) e.extras[opcode] += n * e.links;
  if (is_single) e.extras["MOV"] += 2;
  if (kernel == as_compiled) return e;  // the same instructions; nothing is required of what waits for them
  e.extras = with(e.extras, waits_for_the_result);
  e.result_of = p.result_of;
  e.side_by_side = p.side_by_side == all_links ? static_cast<unsigned>(e.links) : p.side_by_side;
  e.side_paths = p.side_paths;
  e.side_per_link = p.side_per_link;
  e.enclosed = p.enclosed;
  e.stall_per_link = p.stall;
  e.reads_before = p.form == form::together ? 1 : 0;
  e.looped = kernel == loop_256;
  if (e.looped) e.extras = with(e.extras, of_a_loop);
  e.prepared = is_region || is_single;
  if (e.prepared) e.extras = with(e.extras, chooses_the_stamp);
  return e;
}

std::vector<expected_code> code_of(const probe& p) {
  std::vector<expected_code> all;
  for (const int kernel : p.kernels) all.push_back(code_of(p, kernel));
  return all;
}

std::string what_it_needs(const probe& p) {
  return "needs compute capability " + std::to_string(p.oldest / 10) + "." + std::to_string(p.oldest % 10);
}

std::optional<expected_code> claims_of_twin(const probe& p) {
  if (!p.has(as_compiled)) return std::nullopt;
  auto e = code_of(p, p.has(once) ? once : corrected);
  e.kernel = p.kernel_name(as_compiled);
  return e;
}

code_reading read_code(const machine_code::cubin& code, const probe& p) {
  code_reading found;
  for (const auto& expected : code_of(p)) {
    const auto verdict = machine_code::check_code(code, expected);
    found.in_full = found.in_full && verdict.looked_at == machine_code::depth::full;
    if (found.complaint.empty() && !verdict.passed())
      found.complaint = expected.kernel + ": " + verdict.complaints.front();
  }
  const auto twin = claims_of_twin(p);
  if (!twin) return found;
  const auto refused = machine_code::check_code(code, *twin);
  if (!refused.passed()) found.twin = refused.complaints.front();
  // What a kernel claims of waiting for its operands is checked everywhere; that something waits for its
  // result, where the code is read in full. A check that then lets the twin pass says nothing of the kernel
  // either.
  const bool claims = p.has(corrected) || (found.in_full && !p.result_of.empty());
  if (refused.passed()) found.twin = "the check of the machine code cannot tell it apart";
  if (refused.passed() && claims && found.complaint.empty())
    found.complaint = twin->kernel + ": the check lets it pass as the compiler leaves it";
  return found;
}

}  // namespace mgsync::probes
