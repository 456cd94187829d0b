// Sums by host threads: every way gives the right sum at every size, a number that is left out is found, and what results
// say together.
#include <gtest/gtest.h>

#include <cstdlib>

#include "src/studies/reduction/host_sums.hpp"
#include "src/studies/reduction/reduction_evaluation.hpp"
#include "src/studies/reduction/sum_prover.hpp"

namespace mgsync::reduction {
namespace {

seen carried_out(const host_sum& sum, const order& asked) {
  const auto made = make_host_sum(sum);
  if (!made.subject) return seen{.done = asked, .ended = ending::died, .reason = made.reason};
  return made.subject->run(asked);
}

TEST(host_sums, every_way_gives_the_right_sum_from_every_buffer) {
  for (const auto& [how, name] : ways)
    for (const auto type : {value_type::fp64, value_type::fp32, value_type::int32})
      for (const unsigned threads : {1U, 3U})
        for (const std::size_t bytes : {std::size_t{3 * 4096}, std::size_t{1} << 17}) {
          host_sum sum;
          sum.how = how;
          sum.type = type;
          sum.bytes = bytes;
          sum.threads = threads;
          sum.working_set = 5 * bytes;
          const auto came = carried_out(sum, order{.count = 3});
          EXPECT_EQ(came.ended, ending::completed) << name << " " << threads << " threads, " << bytes << ": " << came.reason;
          ASSERT_EQ(came.evidence.at("sums"), "3");
          EXPECT_EQ(came.evidence.at("wrong"), "0");
          EXPECT_EQ(came.values.at("bytes"), std::vector<double>{static_cast<double>(bytes)});
        }
}

TEST(host_sums, a_number_that_is_left_out_is_found_in_every_sum) {
  for (const auto& [how, name] : ways) {
    host_sum sum;
    sum.how = how;
    sum.bytes = 1 << 16;
    sum.working_set = 4 << 16;
    sum.threads = 2;
    const auto came = carried_out(sum, order{.what = order::purpose::prove, .count = 4, .fault = leave_out_the_last});
    EXPECT_EQ(came.ended, ending::completed);  // it was asked for
    EXPECT_EQ(came.evidence.at("wrong"), "4") << name;
  }
}

seen of_sums(const char* wrong, std::string fault = "") {
  seen run{.done = order{.fault = std::move(fault)}};
  run.evidence = {{"sums", "4"}, {"wrong", wrong}};
  return run;
}

TEST(sum_prover, asks_for_the_fault_once_and_passes_only_where_it_was_found) {
  const auto found = make_sum_prover(), missed = make_sum_prover();
  const auto asked = found->next();
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->orders.front().fault, leave_out_the_last);
  EXPECT_FALSE(found->next());
  found->take(*asked, std::vector<seen>{of_sums("4", leave_out_the_last)});
  found->take({}, std::vector<seen>{of_sums("0"), of_sums("0")});
  EXPECT_TRUE(found->judge().passed);
  EXPECT_EQ(found->judge().rounds, 8U);
  EXPECT_EQ(found->judge().kind, verdict_kind::sum);
  found->take({}, std::vector<seen>{of_sums("1")});
  EXPECT_FALSE(found->judge().passed);
  EXPECT_EQ(found->judge().violations, 1U);
  missed->take(*asked, std::vector<seen>{of_sums("0", leave_out_the_last)});
  missed->take({}, std::vector<seen>{of_sums("0")});
  EXPECT_FALSE(missed->judge().passed);
}

result measured(std::string way, double bytes, double us, double half_width_us) {
  result r;
  r.point.study = "reduction";
  r.point.subject = std::move(way);
  r.point.members = 2;
  r.point.set("type", "fp64");
  r.point.set("memory", "cold");
  r.point.set("bytes", bytes, "B");
  r.status = result_status::measured;
  metric time{metric_name{"time", "us"}}, rate{metric_name{"bandwidth", "GB/s", better::more}};
  time.median = us;
  time.ci95_low = us - half_width_us;
  time.ci95_high = us + half_width_us;
  rate.median = rate.ci95_low = rate.ci95_high = bytes / us * 1e-3;
  r.metrics = {time, rate};
  return r;
}

TEST(reduction_evaluation, gives_shares_of_plain_reading_and_says_where_threads_begin_to_pay) {
  const std::vector<result> all{measured("serial", 4096, 1, 0.1),     measured("explicit", 4096, 3, 0.1),   measured("read", 4096, 0.5, 0.1),
                                measured("serial", 65536, 10, 0.1),   measured("explicit", 65536, 9, 2),    measured("read", 65536, 5, 0.1),
                                measured("serial", 1048576, 100, 1),  measured("explicit", 1048576, 60, 1), measured("read", 1048576, 50, 1)};
  const auto e = evaluate(all);
  ASSERT_EQ(e.tables.size(), 1U);
  ASSERT_EQ(e.sentences.size(), 1U);
  EXPECT_EQ(e.sentences[0], "2 threads, fp64, cold: below 1 MiB use one thread.");  // at 64 KiB the intervals overlap
  EXPECT_EQ(e.tables[0].rows.size(), 9U);
  EXPECT_EQ(e.tables[0].rows[6][4], "explicit");
  EXPECT_EQ(e.tables[0].rows[6][8], "83.3 %");
  ASSERT_EQ(e.figures.size(), 1U);
  EXPECT_EQ(std::get<chart>(e.figures[0]).curves.size(), 3U);
  EXPECT_TRUE(evaluate({}).tables.empty());
}

TEST(reduction_evaluation, threads_that_never_pay_are_told) {
  const std::vector<result> all{measured("serial", 4096, 1, 0.1), measured("clause", 4096, 3, 0.1)};
  EXPECT_EQ(evaluate(all).sentences.at(0), "2 threads, fp64, cold: one thread is not slower at the largest size that was measured.");
}

}  // namespace
}  // namespace mgsync::reduction
