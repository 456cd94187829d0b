// Attention's simulator beside its recurrences, its own check, and all orders tried.
#include "src/models/pipeline/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "src/models/pipeline/search.hpp"

namespace mgsync::pipeline { namespace {

using schedule = attention_schedule;
using activity_of = attention_activity::kind;

attention_times of_ns(ticks load, ticks latency, ticks qk, ticks softmax, ticks pv, ticks handover = 0) {
  return {{load, latency}, qk, softmax, pv, handover};
}

attention_times drawn_times(std::mt19937& random) {
  const auto draw = [&](ticks low, ticks high) {
    return std::uniform_int_distribution<ticks>(low, high)(random);
  };
  const ticks load = draw(0, 500);
  return of_ns(load, load + draw(0, 1) * draw(0, 2000), draw(1, 1000), draw(1, 1000), draw(1, 1000),
               draw(0, 1) * draw(0, 300));
}

TEST(attention, simulated_is_what_the_recurrences_say_and_breaks_no_rule) {
  std::mt19937 random(1);
  for (int i = 0; i < 8000; ++i) {
    const auto t = drawn_times(random);
    const int stages = 1 + static_cast<int>(random() % 12);
    const attention_setting how{random() % 2 == 0 ? schedule::cooperative : schedule::ping_pong,
                                1 + static_cast<int>(random() % 5)};
    const auto run = simulate(t, stages, how);
    ASSERT_EQ(violations(run, t, stages, how), std::vector<std::string>{}) << i;
    ASSERT_EQ(total_of(run), attention_time(t, stages, how)) << i;
  }
}

// A positive control of each rule.
TEST(attention, the_check_sees_what_is_wrong) {
  const auto t = of_ns(10, 30, 100, 120, 100, 5);
  const attention_setting how{schedule::ping_pong, 2};
  const auto sound = simulate(t, 6, how);
  const auto says = [&](auto spoil, const std::string& words) {
    auto run = sound;
    spoil(run);
    const auto found = violations(run, t, 6, how);
    EXPECT_TRUE(std::ranges::any_of(found, [&](const std::string& one) {
      return one.find(words) != std::string::npos;
    })) << words;
  };
  const auto move = [](activity_of what, int agent, int stage, ticks by) {
    return [=](std::vector<attention_activity>& run) {
      for (auto& a : run)
        if (a.what == what && a.agent == agent && a.stage == stage) a.begin += by, a.end += by;
    };
  };
  says(move(activity_of::product_qk, 1, 2, -60), "two at a time on the tensor core");
  says(move(activity_of::softmax, 1, 2, -60), "two at a time on the softmax units");
  says(move(activity_of::softmax, 0, 3, -5), "softmax of stage 3: before QK of stage 3 had ended");
  says(move(activity_of::product_pv, 0, 3, -300), "PV of stage 3: before softmax of stage 3 had ended");
  says(move(activity_of::load_k, 0, 4, -400), "load K of stage 4: before QK of stage 2 had ended");
  says(move(activity_of::load_v, 0, 0, 400), "PV of stage 0: before load V of stage 0 had ended");
  says([](auto& run) { run.pop_back(); }, "PV of stage 5: missing");
  says([](auto& run) { run.push_back(run.back()); }, "done twice");
}

TEST(attention, takes_no_less_than_the_best_of_all_orders) {
  std::mt19937 random(2);
  int equal = 0;
  for (int i = 0; i < 300; ++i) {
    const auto t = drawn_times(random);
    const int stages = 1 + static_cast<int>(random() % 3), buffers = 1 + static_cast<int>(random() % 3);
    const ticks least = least_time_of_orders(t, stages, buffers),
                in_turn = attention_time(t, stages, {schedule::ping_pong, buffers});
    ASSERT_LE(least, in_turn) << i;
    // What no order can beat.
    ASSERT_GE(least, stages * (t.product_qk + t.product_pv)) << i;
    ASSERT_GE(least, stages * t.softmax) << i;
    ASSERT_GE(least, (2 * stages - 1) * t.load.issue + t.load.latency) << i;
    equal += least == in_turn;
  }
  EXPECT_GT(equal, 100);
  EXPECT_LT(equal, 300) << "an order that is never better than taking turns was not searched";
}

TEST(attention, has_the_solvers_least_time_of_all_orders) {
  if (!has_z3()) GTEST_SKIP() << "no Z3 in this build";
  std::mt19937 random(3);
  const std::chrono::seconds limit(60);
  for (int i = 0; i < 60; ++i) {
    const auto t = drawn_times(random);
    const int stages = 1 + static_cast<int>(random() % 3), buffers = 1 + static_cast<int>(random() % 3);
    const ticks least = least_time_of_orders(t, stages, buffers);
    ASSERT_EQ(z3_on_orders(t, stages, buffers, least, limit), "agrees") << i;
    if (i > 3) continue;
    EXPECT_EQ(z3_on_orders(t, stages, buffers, least - 1, limit), "says that it takes more");
    EXPECT_EQ(z3_on_orders(t, stages, buffers, least + 1, limit), "says that it takes less");
  }
}

// By hand: the softmax hides behind the other's products, which take longer.
TEST(attention, hides_the_softmax_behind_products) {
  const auto t = of_ns(0, 0, 200, 160, 200);
  // 100 QK of the first, then products back to back: 2 x (100 + 100) of each stage.
  EXPECT_EQ(attention_time(t, 100, {schedule::ping_pong, 2}), 100 * 400);
  EXPECT_EQ(attention_time(t, 100, {schedule::cooperative, 2}), 100 * (200 + 160 + 200));
  // Where the softmax takes longer than all products, it is what a stage takes.
  const auto slow = of_ns(0, 0, 100, 1000, 100);
  const auto two = attention_time(slow, 201, {schedule::ping_pong, 2}),
             one = attention_time(slow, 101, {schedule::ping_pong, 2});
  EXPECT_EQ(two - one, 100 * 1000);
  // Handing the tensor core over costs more than hiding a short softmax gains.
  const auto dear = of_ns(0, 0, 200, 20, 200, 50);
  EXPECT_GT(attention_time(dear, 50, {schedule::ping_pong, 2}),
            attention_time(dear, 50, {schedule::cooperative, 2}));
}

TEST(attention, answers_which_schedule_and_how_many_buffers) {
  const auto a = answer({of_ns(100'000, 600'000, 300'000, 350'000, 300'000), 64, {}, {}, ""});
  EXPECT_EQ(a.best.setting.how, schedule::ping_pong);
  EXPECT_EQ(a.all.size(), 16u);
  for (const auto& one : a.all) {
    EXPECT_GE(static_cast<double>(one.total) * 1.005001, static_cast<double>(a.best.total));
    if (one.setting.buffers < a.best.setting.buffers) { EXPECT_GT(one.total, a.best.total); }
  }
  EXPECT_NE(a.binds.find("the tensor core: 600.0 ns"), std::string::npos) << a.binds;
  const auto few = answer({of_ns(10'000, 900'000, 100'000, 100'000, 100'000), 64, {2}, {}, "", {}});
  EXPECT_NE(few.binds.find("a buffer, from its load until it is free again: 500.0 ns"), std::string::npos)
      << few.binds;
  ASSERT_TRUE(a.fastest_order.has_value());
  EXPECT_FALSE(a.schedule.empty());
  const attention_question dear{of_ns(0, 0, 200'000, 20'000, 200'000, 50'000), 64, {1, 2}, {}, ""};
  EXPECT_EQ(answer(dear).best.setting.how, schedule::cooperative);
  const auto words = to_text(dear, answer(dear));
  EXPECT_NE(words.find("no kernel was measured for this"), std::string::npos) << words;
  const auto rows = to_csv(dear, answer(dear));
  EXPECT_EQ(std::ranges::count(rows, '\n'), 1 + 4) << rows;
}

TEST(attention, refuses_what_it_cannot_simulate) {
  EXPECT_THROW(attention_time(of_ns(1, 1, 1, 1, 1), 0, {}), std::invalid_argument);
  EXPECT_THROW(attention_time(of_ns(2, 1, 1, 1, 1), 1, {}), std::invalid_argument);
  EXPECT_THROW(simulate(of_ns(1, 1, 1, -1, 1), 1, {}), std::invalid_argument);
  EXPECT_THROW(simulate(of_ns(1, 1, 1, 1, 1), 1, {schedule::ping_pong, 0}), std::invalid_argument);
  EXPECT_THROW(least_time_of_orders(of_ns(1, 1, 1, 1, 1), 5, 1), std::invalid_argument);
}

}}  // namespace mgsync::pipeline
