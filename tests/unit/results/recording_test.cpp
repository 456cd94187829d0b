#include "src/results/frame/recording.hpp"

#include <gtest/gtest.h>
#include <mgsync/timeline.hpp>

#include "src/base/errors.hpp"
#include "src/results/files/chrome_trace.hpp"
#include "tests/unit/results/chrome_trace_reader.hpp"

namespace mgsync { namespace {

// Paper 002: the region store, barrier, load of four warps, by the SM's counter.
recording paper_region(const std::vector<double>& starts, const std::vector<double>& stops) {
  recording r{"cycles", "warp", {}, {{"START"}, {"STOP", 0, "store, barrier, load"}}, {}};
  for (std::uint32_t w = 0; w < starts.size(); ++w) r.workers.push_back("warp " + std::to_string(w));
  for (std::uint32_t w = 0; w < starts.size(); ++w)
    r.events.push_back({1000 + starts[w], w, 0, 0, 1000 + static_cast<std::uint64_t>(starts[w]), 0, 5});
  for (std::uint32_t w = 0; w < stops.size(); ++w)
    r.events.push_back({1000 + stops[w], w, 1, 0, 1000 + static_cast<std::uint64_t>(stops[w]), 0, 5});
  return r;
}

TEST(recording, as_compiled_it_is_the_papers_first_table) {
  EXPECT_EQ(event_table(paper_region({0, 2, 4, 6}, {384, 384, 384, 384})),
            "  t | event | warp(s)\n"
            "----+-------+--------\n"
            "  0 | START | [0 ]\n"
            "  2 | START | [1 ]\n"
            "  4 | START | [2 ]\n"
            "  6 | START | [3 ]\n"
            "384 | STOP  | [0(Δt=384) 1(Δt=382) 2(Δt=380) 3(Δt=378) ]\n");
}

TEST(recording, corrected_it_is_the_papers_second_table) {
  EXPECT_EQ(event_table(paper_region({0, 3, 4, 7}, {58, 59, 61, 63})), " t | event | warp(s)\n"
                                                                       "---+-------+--------\n"
                                                                       " 0 | START | [0 ]\n"
                                                                       " 3 | START | [1 ]\n"
                                                                       " 4 | START | [2 ]\n"
                                                                       " 7 | START | [3 ]\n"
                                                                       "58 | STOP  | [0(Δt=58) ]\n"
                                                                       "59 | STOP  | [1(Δt=56) ]\n"
                                                                       "61 | STOP  | [2(Δt=57) ]\n"
                                                                       "63 | STOP  | [3(Δt=56) ]\n");
}

TEST(recording, many_workers_at_one_time_are_told_as_a_range) {
  const auto text = event_table(paper_region(std::vector<double>(528, 0), std::vector<double>(528, 40)));
  EXPECT_NE(text.find("[528 of 0 to 527 ]"), std::string::npos) << text;
  EXPECT_NE(text.find("(Δt=40 to 40) ]"), std::string::npos) << text;
}

TEST(recording, bars_reach_from_what_begins_to_what_ends_and_a_lost_beginning_has_none) {
  auto r = paper_region({0, 3, 4, 7}, {58, 59, 61, 63});
  const auto all = bars_of(r, {"region", "store, barrier, load"});
  ASSERT_EQ(all.tracks.size(), 4U);
  EXPECT_EQ(all.tracks[1].events, (std::vector<event>{{"store, barrier, load", 3, 59}}));
  r.events.erase(r.events.begin());  // warp 0's start
  r.lost = 1;
  EXPECT_TRUE(bars_of(r, {"region", ""}).tracks[0].events.empty());
  EXPECT_NE(event_table(r).find("1 events are missing"), std::string::npos);
}

TEST(recording, survives_json_with_every_digit) {
  auto r = paper_region({0, 3.25}, {58.5, 59});
  r.uncertainty = 32;
  r.events[0].clock = 0xffffffffffffff01ULL;
  r.events[0].timer_ns = 1'700'000'000'123'456'789ULL;
  r.kinds[0].bar = "nothing begins it";
  EXPECT_EQ(recording_from_json(text_of(r), "here"), r);
  for (const char* bad : {"", "{}", "[]", R"({"unit":"ns"})"})
    EXPECT_THROW(recording_from_json(bad, "here"), usage_error) << bad;
  auto text = text_of(r);
  text.replace(text.find("\"events\":[[") + 11, 1, "null,0,99,");  // a kind that is none
  EXPECT_THROW(recording_from_json(text, "here"), usage_error);
}

TEST(chrome_trace, is_what_its_viewers_read) {
  const auto text =
      to_chrome_trace(bars_of(paper_region({0, 3, 4, 7}, {58, 59, 61, 63}), {"region", "002's region"}));
  EXPECT_EQ(complaints_about_trace(text), std::vector<std::string>{});
  const auto trace = nlohmann::json::parse(text);
  const auto& last = trace["traceEvents"].back();
  EXPECT_EQ(last["tid"], 3);
  EXPECT_DOUBLE_EQ(last["ts"], 0.007);  // a cycle is shown as a nanosecond
  EXPECT_DOUBLE_EQ(last["dur"], 0.056);
  EXPECT_EQ(trace["otherData"]["unit"], "1 ns shown is 1 cycle");
}

TEST(chrome_trace, refuses_what_viewers_would_drop) {
  EXPECT_THROW(to_chrome_trace({{"t", "t"}, "us", {{"a", {{"x", 0, 2}, {"y", 1, 3}}}}}),
               std::invalid_argument);
  EXPECT_THROW(to_chrome_trace({{"t", "t"}, "us", {{"a", {{"x", 2, 1}}}}}), std::invalid_argument);
  EXPECT_THROW(to_chrome_trace({{"t", "t"}, "parsecs", {{"a", {{"x", 0, 1}}}}}), std::invalid_argument);
}

// What reads traces in these tests must find what is wrong.
TEST(chrome_trace, the_reader_of_these_tests_can_fail) {
  const std::string track = R"({"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"a"}},)";
  const auto whole = [&](const std::string& events) { return R"({"traceEvents":[)" + track + events + "]}"; };
  EXPECT_TRUE(
      complaints_about_trace(whole(R"({"ph":"X","name":"x","pid":0,"tid":0,"ts":0,"dur":2})")).empty());
  for (
      const auto& bad :
      {std::string("nonsense"), std::string("{}"), whole(R"({"ph":"X","name":"x","pid":0,"tid":0,"ts":0})"),
       whole(R"({"ph":"X","name":"x","pid":0,"tid":1,"ts":0,"dur":1})"),
       whole(R"({"ph":"X","pid":0,"tid":0,"ts":0,"dur":1})"),
       whole(
           R"({"ph":"X","name":"x","pid":0,"tid":0,"ts":0,"dur":2},{"ph":"X","name":"y","pid":0,"tid":0,"ts":1,"dur":2})"),
       whole(R"({"ph":"M","name":"z","pid":0,"tid":0,"args":{}})")})
    EXPECT_FALSE(complaints_about_trace(bad).empty()) << bad;
}

// What a kernel of two SMs recorded with the GPU's timer: SM 5's counter is at 1000 as SM 6's is at 900000,
// and a cycle takes half a nanosecond.
template <bool WithTimer>
std::vector<warp_events<8, WithTimer>> two_warps() {
  std::vector<warp_events<8, WithTimer>> warps(2);
  const auto put = [&](int warp, std::uint32_t id, std::uint64_t cycles) {
    auto& w = warps[static_cast<std::size_t>(warp)];
    auto& s = w.ring[w.stamped++ % 8];
    s.clock = (warp == 0 ? 1000 : 900000) + cycles;
    s.id = id;
    if constexpr (WithTimer) s.timer_ns = 70000 + cycles / 2 / 32 * 32;
  };
  for (std::uint32_t w = 0; w < 2; ++w) {
    warps[w].sm = 5 + w;
    warps[w].block = w;
    warps[w].warp = 3;
  }
  put(0, 0 | range_begins, 0);
  put(0, 1 | range_begins, 4096);
  put(0, 1 | range_ends, 8192);
  put(0, 2, 9000);
  put(0, 0 | range_ends, 65536);
  put(1, 1 | range_begins, 640);
  put(1, 1 | range_ends, 1280);
  return warps;
}

template <bool WithTimer>
kernel_timeline timeline_of_two() {
  kernel_timeline all({"outer", "inner \"quoted\"", "moment"}, "my kernel");
  for (const auto& warp : two_warps<WithTimer>()) all.add(warp);
  return all;
}

TEST(kernel_timeline, of_cycles_begins_at_each_sms_first_stamp) {
  const auto text = timeline_of_two<false>().recording();
  ASSERT_TRUE(is_recording(text));
  const auto r = recording_from_json(text, "recording");
  EXPECT_EQ(r.unit, "cycles");
  EXPECT_EQ(r.lost, 0U);
  const auto bars = bars_of(r, {"timeline", ""});
  ASSERT_EQ(bars.tracks.size(), 3U);
  EXPECT_EQ(bars.tracks[0].name, "block 0 warp 3");
  EXPECT_EQ(bars.tracks[0].events, (std::vector<event>{{"outer", 0, 65536}}));
  EXPECT_EQ(bars.tracks[1].name, "block 0 warp 3, within 1");
  EXPECT_EQ(bars.tracks[1].events, (std::vector<event>{{"inner \"quoted\"", 4096, 8192}}));
  EXPECT_EQ(bars.tracks[2].events, (std::vector<event>{{"inner \"quoted\"", 0, 640}}));
  EXPECT_NE(event_table(r).find("moment"), std::string::npos);
}

TEST(kernel_timeline, with_the_timer_is_on_one_axis) {
  const auto r = recording_from_json(timeline_of_two<true>().recording(), "recording");
  EXPECT_EQ(r.unit, "ns");
  EXPECT_GT(r.uncertainty, 0);
  const auto bars = bars_of(r, {"timeline", ""});
  EXPECT_NEAR(bars.tracks[0].events.at(0).end, 32768, r.uncertainty);
  EXPECT_NEAR(bars.tracks[2].events.at(0).begin, 320, r.uncertainty);
  EXPECT_NEAR(bars.tracks[2].events.at(0).end, 640, r.uncertainty);
}

TEST(kernel_timeline, is_a_trace_that_viewers_read) {
  EXPECT_TRUE(
      complaints_about_trace(
          to_chrome_trace(bars_of(recording_from_json(timeline_of_two<true>().recording(), "recording"),
                                  {"timeline", ""})))
          .empty());
  auto warps = two_warps<false>();
  warps[0].stamped = 3;  // without the moment, which the reader does not know
  kernel_timeline all({"outer", "inner"});
  for (const auto& warp : warps) all.add(warp);
  const auto complaints = complaints_about_trace(all.trace());
  EXPECT_TRUE(complaints.empty()) << complaints.front();
  EXPECT_NE(timeline_of_two<false>().trace().find("\"ph\":\"i\""), std::string::npos);
}

TEST(kernel_timeline, says_what_is_gone_and_draws_no_bar_without_its_begin) {
  auto warps = two_warps<false>();
  kernel_timeline all({"outer", "inner"});
  for (std::uint32_t i = 0; i < 8; ++i) {  // the begin of the outer range is overwritten
    auto& s = warps[0].ring[warps[0].stamped++ % 8];
    s.clock = 70000 + i;
    s.id = i % 2 == 0 ? 1 | range_begins : 1 | range_ends;
  }
  warps[0].ring[warps[0].stamped++ % 8].id = 0 | range_ends;
  warps[1].stamped = 0;
  for (const auto& warp : warps) all.add(warp);
  const auto r = recording_from_json(all.recording(), "recording");
  EXPECT_EQ(r.lost, 6U);
  for (const auto& one : bars_of(r, {"timeline", ""}).tracks)
    for (const auto& e : one.events) EXPECT_EQ(e.name, "inner");
}

TEST(recording, is_told_from_results) {
  EXPECT_TRUE(is_recording(" {\n \"unit\" : \"ns\"}"));
  EXPECT_FALSE(is_recording("{\"schema\": \"mgsync-results/2\", \"unit\": 1}"));
  EXPECT_FALSE(is_recording("unit"));
  EXPECT_FALSE(is_recording(""));
}

}}  // namespace mgsync
