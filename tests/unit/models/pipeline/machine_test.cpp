#include "src/models/pipeline/machine.hpp"

#include <gtest/gtest.h>

#include "src/base/errors.hpp"

namespace mgsync::pipeline { namespace {

machine whole() {
  machine m = rtx_a6000();
  m.name = "made up";
  m.accumulator_bytes = 131072;
  m.persistent = true;
  m.dma_latency_ns = 300;
  m.chip_bytes_per_ns = 4000;
  m.math_work = work_unit::multiply_adds;
  m.math = {20, 3500};
  m.epilogue = {700, 60};
  m.output_bytes = 2;
  m.query_ns = 10;
  m.handover_ns = 25;
  m.peak_tflops = 1234.5;
  m.memory_bytes_per_ns = 999;
  m.l2_bytes = 4096;
  m.from = "nowhere";
  return m;
}

TEST(machine_file, comes_back_as_it_was_written) {
  EXPECT_EQ(read_machine(write_machine(whole()), "x.json"), whole());
  EXPECT_EQ(read_machine(write_machine(rtx_a6000()), "x.json"), rtx_a6000());
  EXPECT_EQ(read_machine(write_machine(h200()), "x.json"), h200());
}

void refused(const std::string& text, const std::string& because) {
  try {
    read_machine(text, "x.json");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const usage_error& error) {
    EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("x.json"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("accepted: "), std::string::npos) << error.what();
  }
}

TEST(machine_file, says_what_is_wrong) {
  const std::string good = write_machine(whole());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  refused("{", "parse error");
  refused("[1]", "expected an object");
  refused("{}", "x.json.sms: missing");
  refused(with("\"sms\": 84", "\"sms\": 0"), "at least 1");
  refused(with("\"sms\": 84", "\"sms\": 8.5"), "whole number");
  refused(with("\"sms\": 84", "\"sms\": 3000000000"), "sms: expected a whole number from 0 to 1000000000");
  refused(with("\"sms\": 84", "\"sms\": null"), "sms: expected a whole number");
  refused(with("\"producers\": 1", "\"producers\": 3"), "accepted: 1, 2");
  refused(with("\"query_ns\"", "\"query_us\""), "unknown key \"query_us\"");
  refused(with("\"persistent\": true", "\"persistent\": 1"), "persistent: expected true or false");
  refused(with("\"dma\"", "\"dna\""), "unknown key \"dna\"");
  refused(R"({"sms": 1, "shared_bytes": 1, "element_bytes": 1, "launch_ns": 0})", "x.json.dma: missing");
  refused(with("\"launch_ns\": 1680.0", "\"launch_ns\": -1"), "launch_ns: expected a number of 0 or more");
  refused(with("\"shared_bytes\": ", "\"shared_bytes\": -"), "shared_bytes");
  refused(with("\"multiply_adds_per_ns\": 3500.0", "\"multiply_adds_per_ns\": 1, \"bytes_per_ns\": 1"),
          "math: it has both bytes_per_ns and multiply_adds_per_ns");
}

TEST(machine_times, are_startup_and_bytes_over_throughput) {
  const stage_times t = times_on(rtx_a6000(), {128, 64, 128}, 84);
  EXPECT_EQ(t.a, (load_time{500'000 + 214'226, 500'000 + 214'226}));  // 32768 B / 152.96 B/ns
  EXPECT_EQ(t.b, (load_time{500'000 + 107'113, 500'000 + 107'113}));
  EXPECT_EQ(t.math, 1'997);  // 49152 B / 24610 B/ns
}

TEST(machine_times, share_the_chip) {
  machine m = whole();
  m.dma = {0, 100};
  const extent tile{128, 128, 64};
  EXPECT_EQ(times_on(m, tile, 1).a.issue, 163'840);
  EXPECT_EQ(times_on(m, tile, 84).a.issue, 344'064);  // 84 x 16384 B / 4000 B/ns
  EXPECT_EQ(times_on(m, tile, 84).a.latency, 344'064 + 300'000);
  const auto tiles = waves_on(m, {128 * 10, 128 * 10, 512}, tile);  // 100 output tiles on 84 SMs
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_EQ(tiles[0], times_on(m, tile, 84));
  EXPECT_EQ(tiles[1], times_on(m, tile, 16));
}

TEST(machine_times, that_cannot_be_counted_are_refused) {
  const auto refused = [](const machine& m, extent size, const std::string& because) {
    try {
      work_on(m, size, {64, 64, 16});
      ADD_FAILURE() << "accepted: " << text(size);
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("accepted"), std::string::npos) << error.what();
    }
  };
  const extent largest{1048576, 1048576, 1048576};
  EXPECT_EQ(work_on(rtx_a6000(), largest, {64, 64, 16}).tiles, (std::int64_t{16384} * 16384 + 83) / 84);
  machine m = rtx_a6000();
  m.sms = 1;
  refused(m, largest, "at most 46 days");
  m = rtx_a6000();
  m.launch_ns = 1e300;
  refused(m, {1, 1, 1}, "at most 46 days");
  for (const double rate : {1e-300, 5e-324}) {
    m = rtx_a6000();
    m.math.per_ns = rate;
    refused(m, {1, 1, 1}, "at most 1000 s");
  }
}

TEST(machine_peaks, show_that_the_papers_machine_is_impossible) {
  const std::vector<extent> tiles{{64, 64, 64}, {128, 128, 128}};
  // 2 * 128^3 / (65536 B / 24610 B/ns) on 84 SMs.
  EXPECT_NEAR(multiplying_tflops(rtx_a6000(), {128, 128, 128}), 132'300, 300);
  EXPECT_NE(impossible(rtx_a6000(), tiles).find("multiply tiles 128x128x128 at 132"), std::string::npos)
      << impossible(rtx_a6000(), tiles);
  EXPECT_NE(impossible(rtx_a6000(), tiles).find("154.8"), std::string::npos);
  EXPECT_EQ(impossible(h200(), tiles), "");
  machine m = rtx_a6000();
  m.math.per_ns /= 1000;  // as the paper prints it: 85 % of the peak
  EXPECT_EQ(impossible(m, tiles), "");
  m.peak_tflops = 0;
  m.math.per_ns *= 1e6;
  EXPECT_EQ(impossible(m, tiles), "");  // nothing is known to hold it against
}

TEST(machine_peaks, are_passed_by_no_time_without_a_word) {
  const machine m = h200();
  const extent size{8192, 8192, 8192};
  const double flop = 2.0 * 8192 * 8192 * 8192;
  const auto at = [&](double tflops) {
    return beyond_peaks(m, size, static_cast<ticks>(flop / tflops));
  };  // 1 TFLOP/s is 1 FLOP/ps
  EXPECT_TRUE(at(989).empty());
  ASSERT_EQ(at(990).size(), 1u);
  EXPECT_NE(at(990).front().find("990.00 TFLOP/s are more than the hardware's peak of 989.5"),
            std::string::npos)
      << at(990).front();
  // 1 GiB of C and little else: 4800 GB/s, but for what stays in the L2 cache.
  const extent wide{16384, 16384, 1};
  const double bytes = 4.0 * 16384 * 16384 - 50 * 1048576;
  EXPECT_TRUE(beyond_peaks(m, wide, static_cast<ticks>(bytes / 4799 * 1000)).empty());
  ASSERT_EQ(beyond_peaks(m, wide, static_cast<ticks>(bytes / 4801 * 1000)).size(), 1u);
  EXPECT_NE(beyond_peaks(m, wide, static_cast<ticks>(bytes / 4801 * 1000)).front().find("4801 GB/s"),
            std::string::npos);
}

TEST(machine_limits, shared_memory_and_registers) {
  machine m = rtx_a6000();
  EXPECT_TRUE(fits(m, {{128, 128, 128}, {1, 1, 1, false}}));  // 64 KiB of 99
  EXPECT_FALSE(fits(m, {{128, 128, 128}, {1, 1, 2, false}}));
  m.accumulator_bytes = 65536;
  EXPECT_TRUE(fits(m, {{128, 128, 64}, {1, 1, 1, false}}));
  EXPECT_FALSE(fits(m, {{128, 128, 64}, {1, 2, 1, false}}));  // a tile of C for each consumer
}

TEST(tiles, waves_and_stages_round_up) {
  EXPECT_EQ(waves({2048, 2048, 64}, {128, 128, 64}, 84), 4);  // the paper's example: 256 tiles on 84 SMs
  EXPECT_EQ(output_tiles({130, 128, 1}, {128, 128, 64}), 2);
  EXPECT_EQ(stages({1, 1, 65}, {128, 128, 64}), 2);
}

}}  // namespace mgsync::pipeline
