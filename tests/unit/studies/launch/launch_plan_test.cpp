// What study launch plans on GPUs: which kinds honour which axis, and that every other point says why it is
// not measured.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/studies/planned.hpp"

namespace mgsync {
extern const study launch_study;
namespace {

std::vector<measurement> plan_of(const typed_words& typed) {
  return test::planned_on_gpus(launch_study, typed);
}

TEST(launch_plan, a_kind_that_cannot_take_arguments_is_waived_and_every_other_takes_them) {
  const auto plan = plan_of({{"quantity", {"null"}}, {"argument_bytes", {"0", "8", "128", "4096"}}});
  EXPECT_EQ(plan.size(), 8U * 4U);
  for (const auto& m : plan) {
    const bool takes = m.point.subject != "device-graph" || !m.point.number("argument_bytes");
    EXPECT_EQ(m.waived.empty(), takes)
        << m.point.subject << " " << m.point.number("argument_bytes").value_or(0) << ": " << m.waived;
    if (!takes) { EXPECT_NE(m.waived.find("takes its arguments once"), std::string::npos) << m.waived; }
  }
}

TEST(launch_plan, a_gradient_is_of_kernels_that_are_told_how_long_they_wait) {
  for (const auto& m : plan_of(
           {{"kind", {"multi-device"}}, {"quantity", {"fused", "gradient"}}, {"argument_bytes", {"128"}}}))
    EXPECT_EQ(m.waived.find("told in 16 bytes") != std::string::npos, m.point.word("quantity") == "gradient")
        << m.waived;
}

// What an older mgsync wrote comes to be what this one's methods write.
TEST(launch_plan, of_a_gradient_or_a_unit_no_value_is_better) {
  for (const auto& m : plan_of({{"kind", {"traditional", "device-graph"}},
                                {"quantity", {"null", "total", "fused", "gradient"}}})) {
    const auto columns = m.method()->columns();
    result old;
    old.point = m.point;
    for (const auto& column : columns)
      old.metrics.emplace_back(metric{metric_name{column.name, column.unit}});
    old.doubts = {{std::string(doubt_kinds::negative), 1, ""}};
    launch_study.renew(old);
    EXPECT_EQ(old.times_launches, m.point.subject == "traditional") << m.point.subject;
    for (std::size_t i = 0; i < columns.size(); ++i)
      EXPECT_EQ(old.metrics[i].better, columns[i].better) << columns[i].name;
    EXPECT_EQ(old.doubts.empty(), m.point.word("quantity") == "gradient") << m.point.word("quantity");
  }
}

TEST(launch_plan, a_graph_has_a_point_for_each_kind_of_node_and_length) {
  const auto plan =
      plan_of({{"quantity", {"graph"}}, {"node", {"kernel", "conditional"}}, {"nodes", {"1", "100"}}});
  ASSERT_EQ(plan.size(), 4U);
  for (const auto& m : plan) {
    EXPECT_TRUE(m.waived.empty()) << m.waived;
    const auto orders = m.method()->next({})->orders;
    EXPECT_EQ(static_cast<double>(orders.front().count), m.point.number("nodes"));
  }
}

TEST(launch_plan, a_round_has_a_kernel_on_each_gpu_or_more_and_comes_with_and_without_a_node_between) {
  const auto plan = plan_of({{"quantity", {"round"}}, {"members", {"2"}}, {"kernels", {"1-3"}}});
  ASSERT_EQ(plan.size(), 2U * 2U);
  for (const auto& m : plan) {
    EXPECT_GE(m.point.number("kernels").value_or(0), 2);
    EXPECT_EQ(m.point.group, (std::vector<int>{0, 1}));
    EXPECT_TRUE(m.waived.empty()) << m.waived;
    EXPECT_EQ(m.checker()->next()->orders.size(), 2U) << "a run with a fault, and one without";
  }
}

}  // namespace
}  // namespace mgsync
