// Switch points beyond one block, of made-up sums of which the answers are known.
#include "src/studies/model/model_evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "src/models/switch_points/switch_points.hpp"
#include "tests/unit/studies/model/made_up_measurement.hpp"

namespace mgsync::model { namespace {

result sum(const char* way, const char* variant, double bytes, double us, int gpus = 1) {
  result r;
  r.point.study = "reduction";
  r.point.subject = way;
  r.point.variant = variant;
  r.point.device = topology::device::gpu;
  r.point.members = gpus;
  r.point.set("type", "fp64");
  r.point.set("memory", "cold");
  r.point.set("bytes", bytes, "B");
  test::measure(r, "us", us);
  return r;
}

// A block enters in 1 us and reads 0.1 GB/s; the grid 100 GB/s, and joins in 2 us: they meet where 10 us a
// KiB are 2 us more.
std::vector<result> block_and_grid() {
  std::vector<result> all;
  for (double bytes = 8; bytes <= 65536; bytes *= 2) {
    const double block = 1 + bytes / 100, grid = 1 + bytes / 1e5;
    all.push_back(sum("read-graph", "vector4:1024x1:one", bytes, block));
    all.push_back(sum("auto-graph", "vector4:1024x1:one", bytes, block));
    all.push_back(sum("read-graph", "vector4:256x2:all", bytes, grid));
    all.push_back(sum("auto-graph", "vector4:256x2:all", bytes, grid + 2));
  }
  return all;
}

const table* named(const evaluation& e, std::string_view name) {
  const auto found =
      std::find_if(e.tables.begin(), e.tables.end(), [&](const table& t) { return t.heading.name == name; });
  return found == e.tables.end() ? nullptr : &*found;
}

TEST(wider_switches, a_block_and_the_grid_cross_where_joining_is_paid_for) {
  evaluation e;
  add_wider_switches(block_and_grid(), e);
  const auto* t = named(e, "table-iv-wider");
  ASSERT_NE(t, nullptr);
  ASSERT_EQ(t->rows.size(), 1U);
  EXPECT_EQ(t->rows[0][0], "1 block -> the grid");
  EXPECT_EQ(t->rows[0][3], "2.00");
  EXPECT_NEAR(std::stod(t->rows[0][5]), 200, 20);  // "... B"
  EXPECT_EQ(t->rows[0][10], "1.00");
  EXPECT_EQ(named(e, "wider-claims")->rows.at(0).back(), "holds");
}

// The probe of joining says less than joining costs in sums: the claim does not hold, and says so.
TEST(wider_switches, a_probe_that_foretells_too_little_fails_the_claim) {
  auto all = block_and_grid();
  all[3].metrics.front().median = 1.5;
  evaluation e;
  add_wider_switches(all, e);
  EXPECT_EQ(named(e, "wider-claims")->rows.at(0).back(), "DOES NOT HOLD");
}

TEST(wider_switches, without_probes_only_what_was_measured_is_told) {
  auto all = block_and_grid();
  std::erase_if(all, [](const result& r) { return r.point.subject == "read-graph"; });
  evaluation e;
  add_wider_switches(all, e);
  EXPECT_EQ(named(e, "table-iv-wider")->rows.at(0)[9], "-");
  EXPECT_EQ(named(e, "wider-claims"), nullptr);
}

// A GPU reads 1000 B/us, two twice that, and joining two takes 4 us: from 8000 B in all on.
TEST(wider_switches, two_gpus_are_compared_by_bytes_in_all) {
  std::vector<result> all{sum("read", "vector4:512x2:all", 8, 1), sum("auto", "vector4:512x2:all", 8, 1),
                          sum("read", "vector4:512x2:all", 8, 1, 2),
                          sum("single-kernel", "vector4:512x2:all", 8, 5, 2)};
  for (double bytes = 1000; bytes <= 128000; bytes *= 2) {
    for (const char* way : {"read", "auto"}) all.push_back(sum(way, "", bytes, 1 + bytes / 1000));
    all.push_back(sum("read", "", bytes, 1 + bytes / 1000, 2));
    all.push_back(sum("single-kernel", "", bytes, 5 + bytes / 1000, 2));
  }
  evaluation e;
  add_wider_switches(all, e);
  const auto* t = named(e, "table-iv-wider");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->rows.at(0)[0], "1 GPU -> 2 GPUs");
  EXPECT_EQ(t->rows.at(0)[10], "1.00");
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_NE(e.sentences[0].find("the model foretold that 2 GPUs are faster from 7.8"), std::string::npos)
      << e.sentences[0];
}

// A difference of two runs may come out below 0 in a batch, or in the median: that is no time. The batch says
// nothing of where it crosses, the size is left out, and the rest stands.
TEST(wider_switches, a_batch_or_a_size_without_a_time_costs_itself) {
  auto all = block_and_grid();
  const auto in_grid = [&](double bytes) {
    return std::find_if(all.begin(), all.end(), [&](const result& r) {
      return r.point.subject == "auto-graph" && r.point.variant.ends_with(":all") &&
             r.point.number("bytes") == bytes;
    });
  };
  in_grid(1024)->metrics.front().raw[3] = -0.5;
  for (auto& value : in_grid(64)->metrics.front().raw) value = -1;
  in_grid(64)->metrics.front().median = -1;
  evaluation e;
  add_wider_switches(all, e);
  const auto* t = named(e, "table-iv-wider");
  ASSERT_NE(t, nullptr);
  EXPECT_NEAR(std::stod(t->rows.at(0)[5]), 200, 20);
  EXPECT_NE(t->rows[0][6], "-") << "the other batches have a crossing";
  for (auto& r : all)
    if (r.point.subject == "read-graph" && r.point.number("bytes") == 512.0)
      r.metrics.front().median -= 1000;  // foretells less than nothing
  evaluation without;
  add_wider_switches(all, without);
  EXPECT_EQ(named(without, "table-iv-wider")->rows.at(0)[9], "never");
}

// Published of an H200 (one load of 8 bytes a thread): 4224 threads take 123 GB/s, so that one load takes 275
// ns.
TEST(littles_law, gives_the_latency_of_published_loads_in_flight) {
  const configuration loop{"4224 threads", 4224 * 8 / 275.0, 275};
  EXPECT_NEAR(concurrency_bytes(loop), 4224 * 8, 1e-6);
}

}}  // namespace mgsync::model
