// What simulated attention must keep to, and which schedule and how many buffers are best, in words.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "src/base/units.hpp"
#include "src/models/pipeline/attention.hpp"

namespace mgsync::pipeline {

namespace {

using kind = attention_activity::kind;

constexpr double small_gain = 0.005;  // of the time: more is no reason for another buffer
constexpr int drawn_stages = 6;

bool is_load(const attention_activity& a) { return a.what == kind::load_k || a.what == kind::load_v; }

const char* word_of(kind what) {
  switch (what) {
  case kind::load_k: return "load K";
  case kind::load_v: return "load V";
  case kind::product_qk: return "QK";
  case kind::softmax: return "softmax";
  case kind::product_pv: break;
  }
  return "PV";
}

double ns(double of_ticks) { return of_ticks / ticks_per_ns; }
std::string microseconds(ticks t) {
  const double of = ns(static_cast<double>(t));
  return of < 1e9 ? fmt::format("{:.3f} us", of * 1e-3) : fmt::format("{:.6f} s", of * 1e-9);
}

// From stage to stage, in the second half.
double stage_of(const attention_times& t, int stages, const attention_setting& how) {
  const int half = stages / 2;
  const ticks all = attention_time(t, stages, how);
  return static_cast<double>(half > 0 ? all - attention_time(t, half, how) : all) / (stages - half);
}

// The resource that a stage needs the longest.
std::string what_binds(const attention_times& t, const attention_choice& best) {
  const bool in_turn = best.setting.how == attention_schedule::ping_pong;
  const ticks products = t.product_qk + t.product_pv;
  std::vector<std::pair<ticks, const char*>> all{
      {products + (in_turn ? 2 * t.handover : 0), "the tensor core"},
      {t.softmax, "the softmax units"},
      {2 * t.load.issue, "loads of K and V"},
      {(t.load.latency + 2 * t.handover + std::max(t.product_qk, t.product_pv)) / best.setting.buffers,
       "a buffer, from its load until it is free again"}};
  if (!in_turn) all.emplace_back(products + t.softmax, "products and softmax, one after the other");
  const auto& [least, name] = *std::ranges::max_element(all);
  return fmt::format("{}: {:.1f} ns of a stage's {:.1f}", name, ns(static_cast<double>(least)),
                     ns(best.stage));
}

timeline drawn(const std::vector<attention_activity>& all) {
  timeline bars;
  for (const auto& a : all)
    bars.push_back({is_load(a) ? "producer" : fmt::format("consumer {}", a.agent),
                    fmt::format("{} {}", word_of(a.what), a.stage), ns(static_cast<double>(a.begin)),
                    ns(static_cast<double>(a.end))});
  return bars;
}

const attention_choice* find(const attention_answer& a, attention_schedule how, int buffers) {
  const auto found = std::ranges::find(a.all, attention_setting{how, buffers}, &attention_choice::setting);
  return found == a.all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> violations(const std::vector<attention_activity>& all, const attention_times& t,
                                    int stages, const attention_setting& how) {
  std::vector<std::string> found;
  const int consumers = how.how == attention_schedule::ping_pong ? 2 : 1;
  std::map<std::tuple<kind, int, int>, const attention_activity*> of;
  std::map<std::string, std::pair<ticks, ticks>> engines;  // until when each was in use
  for (const auto& a : all) {
    if (!of.try_emplace({a.what, a.agent, a.stage}, &a).second)
      found.push_back(fmt::format("{} of stage {}: done twice", word_of(a.what), a.stage));
    const ticks until = is_load(a) ? a.begin + t.load.issue : a.end;
    std::vector<std::string> uses{is_load(a)                ? "the loads"
                                  : a.what == kind::softmax ? "the softmax units"
                                                            : "the tensor core"};
    if (!is_load(a)) uses.push_back(fmt::format("consumer {}", a.agent));
    for (const auto& one : uses) {
      ticks& free = engines[one].first;
      if (a.begin < free)
        found.push_back(fmt::format("{} of stage {}: two at a time on {}", word_of(a.what), a.stage, one));
      free = std::max(free, until);
    }
  }
  if (all.size() != static_cast<std::size_t>(stages) * static_cast<std::size_t>(2 + 3 * consumers))
    found.push_back(fmt::format("{} activities", all.size()));
  const auto after = [&](kind what, int agent, int stage, kind before, int its_agent, int its_stage,
                         ticks later) {
    const auto x = of.find({what, agent, stage}), y = of.find({before, its_agent, its_stage});
    if (x == of.end() || y == of.end())
      found.push_back(
          fmt::format("{} of stage {}: missing, or {} is", word_of(what), stage, word_of(before)));
    else if (x->second->begin < y->second->end + later)
      found.push_back(fmt::format("{} of stage {}: before {} of stage {} had ended", word_of(what), stage,
                                  word_of(before), its_stage));
  };
  for (int stage = 0; stage < stages; ++stage)
    for (int c = 0; c < consumers; ++c) {
      after(kind::product_qk, c, stage, kind::load_k, 0, stage, t.handover);
      after(kind::softmax, c, stage, kind::product_qk, c, stage, 0);
      after(kind::product_pv, c, stage, kind::softmax, c, stage, 0);
      after(kind::product_pv, c, stage, kind::load_v, 0, stage, t.handover);
      if (stage > 0) after(kind::product_qk, c, stage, kind::product_pv, c, stage - 1, 0);
      if (stage < how.buffers) continue;
      after(kind::load_k, 0, stage, kind::product_qk, c, stage - how.buffers, t.handover);
      after(kind::load_v, 0, stage, kind::product_pv, c, stage - how.buffers, t.handover);
    }
  return found;
}

#ifndef MGSYNC_WITH_Z3
std::string z3_on_orders(const attention_times&, int, int, ticks, std::chrono::milliseconds) {
  return "is not in this build";
}
#endif

attention_answer answer(const attention_question& asked) {
  attention_answer a;
  const attention_times& t = asked.times;
  auto schedules = asked.schedules;
  if (schedules.empty()) schedules = {attention_schedule::ping_pong, attention_schedule::cooperative};
  auto buffers = asked.buffers;
  for (int q = 1; asked.buffers.empty() && q <= 8; ++q) buffers.push_back(q);
  std::ranges::sort(buffers);
  for (const auto how : schedules)
    for (const int q : buffers) {
      const attention_setting one{how, q};
      a.all.push_back({one, attention_time(t, asked.stages, one), stage_of(t, asked.stages, one)});
    }
  const auto least = std::ranges::min_element(a.all, {}, &attention_choice::total)->total;
  std::vector<attention_choice> good;
  std::ranges::copy_if(a.all, std::back_inserter(good), [&](const attention_choice& c) {
    return static_cast<double>(c.total) <= static_cast<double>(least) * (1 + small_gain);
  });
  a.best = *std::ranges::min_element(
      good, {}, [](const attention_choice& c) { return std::pair(c.setting.buffers, c.total); });
  a.binds = what_binds(t, a.best);
  if (find(a, attention_schedule::ping_pong, a.best.setting.buffers) != nullptr) {
    a.ordered_stages = std::min(asked.stages, most_ordered_stages - 1);
    const int buffers = a.best.setting.buffers;
    a.fastest_order = least_time_of_orders(t, a.ordered_stages, buffers);
    a.alternating = attention_time(t, a.ordered_stages, {attention_schedule::ping_pong, buffers});
    if (asked.solver_limit)
      a.solver = z3_on_orders(t, a.ordered_stages, buffers, *a.fastest_order, *asked.solver_limit);
  }
  a.schedule = drawn(simulate(t, std::min(asked.stages, drawn_stages), a.best.setting));
  return a;
}

std::string to_text(const attention_question& asked, const attention_answer& a) {
  const attention_times& t = asked.times;
  std::string out = fmt::format("Attention on one SM: {} of K and V, two products with a softmax between\n",
                                counted(static_cast<std::uint64_t>(asked.stages), "tile"));
  const auto line = [&](const char* what, const std::string& words) {
    out += fmt::format("  {:<12} {}\n", what, words);
  };
  const auto& best = a.best;
  line("best", fmt::format("{}, {} of K and of V", word_of(best.setting.how),
                           counted(static_cast<std::uint64_t>(best.setting.buffers), "buffer")));
  line("time", fmt::format("{}, {:.1f} ns from stage to stage", microseconds(best.total), ns(best.stage)));
  line("binds", a.binds);
  const auto other = best.setting.how == attention_schedule::ping_pong ? attention_schedule::cooperative
                                                                       : attention_schedule::ping_pong;
  if (const auto* one = find(a, other, best.setting.buffers); one != nullptr)
    line("other", fmt::format("{} with as many: {} ({:+.1f} %)", word_of(other), microseconds(one->total),
                              100 * (static_cast<double>(one->total) / static_cast<double>(best.total) - 1)));
  const attention_choice* before = nullptr;
  for (const auto& one : a.all) {  // more buffers that change nothing are left out
    if (before == nullptr || before->setting.how != one.setting.how || before->total != one.total)
      line(before == nullptr ? "all" : "",
           fmt::format("{}, {}: {}", word_of(one.setting.how),
                       counted(static_cast<std::uint64_t>(one.setting.buffers), "buffer"),
                       microseconds(one.total)));
    before = &one;
  }
  if (a.fastest_order) {
    const double gain =
        100 * (1 - static_cast<double>(*a.fastest_order) / static_cast<double>(a.alternating));
    line("orders", fmt::format("of all orders on the tensor core and the softmax units, {} for {}",
                               *a.fastest_order == a.alternating
                                   ? "none takes less than ping-pong"
                                   : fmt::format("the best takes {:.1f} % less than ping-pong", gain),
                               counted(static_cast<std::uint64_t>(a.ordered_stages), "stage")));
  }
  if (!a.solver.empty()) line("solver", "Z3 " + a.solver);
  line("taken",
       fmt::format("a load of K or V {:.1f} ns, and {:.1f} more until it can be used; QK {:.1f}, softmax "
                   "{:.1f}, PV {:.1f}; a handover {:.1f}",
                   ns(static_cast<double>(t.load.issue)),
                   ns(static_cast<double>(t.load.latency - t.load.issue)),
                   ns(static_cast<double>(t.product_qk)), ns(static_cast<double>(t.softmax)),
                   ns(static_cast<double>(t.product_pv)), ns(static_cast<double>(t.handover))));
  if (!asked.machine.empty())
    line("machine", fmt::format("{}: what a load takes until it can be used, and a handover", asked.machine));
  line("assumed",
       "a consumer's half of the rows takes half of each time; a consumer does one thing at a time");
  line("unmeasured", "no kernel was measured for this: the times are the question's");
  return out;
}

std::string to_csv(const attention_question& asked, const attention_answer& a) {
  std::string out = "stages,schedule,buffers,measured,time_us,stage_ns\n";
  for (const auto& one : a.all)
    out += fmt::format("{},{},{},no,{:.3f},{:.1f}\n", asked.stages, word_of(one.setting.how),
                       one.setting.buffers, ns(static_cast<double>(one.total)) * 1e-3, ns(one.stage));
  return out;
}

}  // namespace mgsync::pipeline
