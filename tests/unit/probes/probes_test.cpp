// What a launch of a probe saw, and which machine code a GPU runs, as values.
#include <set>

#include <gtest/gtest.h>

#include "src/probes/catalogue.hpp"
#include "src/probes/probe_image.hpp"
#include "src/probes/probe_seen.hpp"

namespace mgsync::probes { namespace {

TEST(catalogue, names_every_kernel_once_in_its_source) {
  std::set<std::string> sources;
  std::size_t kernels = 0;
  for (const auto* const source : {"warp", "block", "cluster", "memory", "arithmetic", "unrolled", "region",
                                   "instructions", "pairs", "block_sums"}) {
    std::set<std::string> names;
    for (const auto& p : probes_of(source)) {
      EXPECT_EQ(p.source, source);
      for (const auto& e : code_of(p)) EXPECT_TRUE(names.insert(e.kernel).second) << e.kernel;
    }
    EXPECT_FALSE(names.empty()) << source;
    kernels += names.size();
  }
  EXPECT_EQ(kernels, 513U);
  EXPECT_THROW(probe_called("warp", "block_sync"), std::invalid_argument);
  EXPECT_TRUE(probes_of("nobody").empty());
}

TEST(catalogue, an_entry_says_what_the_code_of_its_kernels_must_be) {
  const auto& sync = probe_called("block", "block_sync");
  EXPECT_EQ(sync.lengths, (std::vector<unsigned>{16, 32, 64, 128, 256}));
  const auto chain = code_of(sync, 64), loop = code_of(sync, loop_256);
  EXPECT_EQ(chain.kernel, "block_sync_64");
  EXPECT_EQ(chain.links, 64U);
  EXPECT_EQ(chain.reads_before, 1U) << "the read of the common start";
  EXPECT_EQ(loop.kernel, "block_sync_loop_256");
  EXPECT_TRUE(loop.looped);
  EXPECT_EQ(loop.extras.at("BRA"), 1U);
  const auto& load = probe_called("instructions", "store_load");
  EXPECT_EQ(code_of(load, once).kernel, "store_load_once");
  EXPECT_TRUE(code_of(load, once).prepared);
  EXPECT_EQ(code_of(load, as_compiled).result_of, "");
  EXPECT_EQ(claims_of_twin(load)->kernel, "store_load_as_compiled");
  EXPECT_EQ(claims_of_twin(load)->result_of, "LDS");
  EXPECT_FALSE(claims_of_twin(sync));
  EXPECT_EQ(code_of(probe_called("region", "loads"), 8).side_by_side, 8U);
  EXPECT_EQ(code_of(probe_called("region", "loads"), 8).extras.at("LOP3"), 8U);
}

TEST(catalogue, a_probe_runs_since_an_architecture_and_up_to_one) {
  EXPECT_FALSE(probe_called("warp", "redux_add").runs_on(75));
  EXPECT_TRUE(probe_called("warp", "redux_add").runs_on(100));
  EXPECT_TRUE(probe_called("instructions", "warpgroup_multiply_8").runs_on(90));
  EXPECT_FALSE(probe_called("instructions", "warpgroup_multiply_8").runs_on(100));
  EXPECT_EQ(what_it_needs(probe_called("block", "mbarrier_try_wait")), "needs compute capability 9.0");
}

// Machine code as ptxas wrote it: a shuffle between two reads of the clock; the second waits for it where
// something compares its result, and in the twin nothing does.
constexpr machine_code::instruction read_clock{0x0000000000047805, 0x000fe20000015000},
    shuffle{0x0c201f0000007f89, 0x001e2800000e0000}, compare{0x000000050000720c, 0x001fc4000bf05070};

struct shot_and_twin {
  machine_code::cubin code{90,
                           {{"shot_once", {read_clock, shuffle, compare, read_clock}},
                            {"shot_as_compiled", {read_clock, shuffle, read_clock}}}};
  probe shot{.name = "shot", .kernels = {once, as_compiled}, .per_link = {{"SHFL", 1}}, .result_of = "SHFL"};
  code_reading read() const { return read_code(code, shot); }
};

TEST(read_code, a_probe_and_its_twin_as_they_must_be) {
  const shot_and_twin one;
  EXPECT_EQ(one.read().complaint, "");
  EXPECT_EQ(one.read().twin, "nothing takes the last result before the second clock read");
  EXPECT_TRUE(one.read().in_full);
}

TEST(read_code, a_twin_that_passes_voids_the_check) {
  shot_and_twin one;
  one.shot.extras = {{"ISETP", 1}};
  one.code.functions[1].code = one.code.functions[0].code;
  EXPECT_EQ(one.read().complaint, "shot_as_compiled: the check lets it pass as the compiler leaves it");
  one.code.architecture = 80;  // there, what waits for results is not looked at
  EXPECT_EQ(one.read().complaint, "");
  EXPECT_EQ(one.read().twin, "the check of the machine code cannot tell it apart");
}

TEST(read_code, a_probe_that_is_not_what_it_says_is_named_with_its_kernel) {
  shot_and_twin one;
  one.code.functions[0].code.insert(one.code.functions[0].code.begin() + 1, shuffle);
  EXPECT_EQ(one.read().complaint, "shot_once: 2 SHFL between the clock reads, not 1");
  one.code.functions.erase(one.code.functions.begin());
  EXPECT_EQ(one.read().complaint, "shot_once: no kernel shot_once in the machine code");
}

TEST(image_for, takes_the_newest_of_the_same_major_version) {
  const std::byte some[1]{};
  const image images[] = {{75, some}, {80, some}, {86, some}, {90, some}};
  EXPECT_EQ(image_for(images, 9, 0)->architecture, 90u);
  EXPECT_EQ(image_for(images, 8, 9)->architecture, 86u);
  EXPECT_EQ(image_for(images, 8, 0)->architecture, 80u);
  EXPECT_EQ(image_for(images, 10, 0), nullptr);
  EXPECT_EQ(image_for(images, 7, 0), nullptr);
}

TEST(probe_seen, latency_is_from_the_last_to_arrive_to_the_first_to_leave) {
  probe_seen saw;
  saw.asked.passes = 3;
  saw.warps = 4;
  saw.sm_at_start = {7, 7, 9, 7};
  saw.sm_at_end = {7, 7, 9, 8};  // the last one moved: left out
  const auto pass = [](std::uint64_t at) {
    return std::vector<stamp>{{at, at + 50}, {at + 10, at + 45}, {5, 25}, {at, at + 900}};
  };
  for (const std::uint64_t at : {1000u, 2000u, 3000u})
    for (const auto& s : pass(at)) saw.stamps.push_back(s);
  const auto passes = saw.passes();
  ASSERT_EQ(passes.size(), 4u) << "two passes (the first is dropped) of two SMs";
  EXPECT_EQ(passes[0].sm, 7u);
  EXPECT_EQ(passes[0].warps, 2u);
  EXPECT_EQ(passes[0].latency_cycles, 35);
  EXPECT_EQ(passes[0].span_cycles, 50u);
  EXPECT_EQ(passes[1].sm, 9u);
  EXPECT_EQ(saw.latency_cycles(), (std::vector<std::int64_t>{35, 35}));
}

// Two blocks on one SM, the second of which entered one window later: its pass 1 ran beside the other's
// pass 2.
TEST(probe_seen, passes_that_start_at_windows_are_those_of_one_window) {
  probe_seen saw;
  saw.asked.passes = 3;
  saw.asked.window_log2_ns = 10;
  saw.warps = 2;
  saw.sm_at_start = saw.sm_at_end = {0, 0};
  saw.stamps = {{1000, 1100}, {3000, 3100}, {3000, 3110}, {5010, 5200}, {5000, 5100}, {7000, 7100}};
  const auto passes = saw.passes();
  ASSERT_EQ(passes.size(), 1u) << "only the window at 5000 has both";
  EXPECT_EQ(passes[0].span_cycles, 200u);
  EXPECT_EQ(passes[0].warps, 2u);
}

TEST(probe_seen, a_stamp_without_an_end_is_no_sample) {
  probe_seen saw;
  saw.asked.passes = 2;
  saw.warps = 1;
  saw.sm_at_start = saw.sm_at_end = {0};
  saw.stamps = {{10, 20}, {30, 0}};
  EXPECT_TRUE(saw.passes().empty());
}

}}  // namespace mgsync::probes
