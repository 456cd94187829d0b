// PTX read, and run on all its ways: small kernels, what they are taken for, and what they do.
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/base/errors.hpp"
#include "src/models/ptx/arithmetic.hpp"
#include "src/models/ptx/launch.hpp"

namespace mgsync::ptx { namespace {

using memory_order::event_kind;

constexpr std::uint64_t x = 0x1000, y = 0x2000;

// A kernel of two words x and y, in %rd1 and %rd2.
kernel kernel_of(const std::string& body) {
  return read_kernels(".version 8.0\n.target sm_90\n.visible .entry small(\n .param .u64 small_param_0,\n"
                      " .param .u64 small_param_1\n)\n{\n .reg .pred %p<9>;\n .reg .b32 %r<20>;\n"
                      " .reg .b64 %rd<9>;\n ld.param.u64 %rd1, [small_param_0];\n"
                      " ld.param.u64 %rd2, [small_param_1];\n" +
                      body + "\n ret;\n}\n")
      .at(0);
}

struct places {
  unsigned gpus = 1, blocks = 1, threads = 1;
};
recording run(const kernel& code, const places& where, unsigned failed_polls = 0) {
  launch asked{.kernel = &code,
               .gpus = where.gpus,
               .blocks = where.blocks,
               .threads = where.threads,
               .warp = 2,
               .memory = {},
               .parameters = {},
               .registers = {},
               .name_of = {},
               .failed_polls = failed_polls};
  asked.parameters = [](const position&) {
    std::vector<std::uint8_t> bytes(16);
    const std::uint64_t words[2] = {x, y};
    std::memcpy(bytes.data(), words, sizeof words);
    return bytes;
  };
  return record(asked);
}
// The events in order, as text: thread, what, and value or conditions.
std::vector<std::string> events_of(const recording& made) {
  std::vector<std::string> lines;
  for (const auto& one : made.program.events) {
    std::string line = fmt::format("{} {}", one.thread, one.text);
    if (one.kind == event_kind::write) {
      line += one.value.read >= 0 ? fmt::format(" = {}+{}", one.value.read, one.value.plus)
                                  : fmt::format(" = {}", one.value.plus);
    }
    for (const auto& g : one.guards)
      line +=
          fmt::format(" if {}{}{}", g.read, g.how == memory_order::compared::equal ? "==" : "!=", g.value);
    lines.push_back(line);
  }
  return lines;
}
using texts = std::vector<std::string>;

std::string refusal_of(const std::string& body, const places& where = {}) {
  try {
    run(kernel_of(body), where);
  } catch (const usage_error& refused) { return refused.what(); }
  return "";
}

TEST(ptx, is_read_with_its_scopes_labels_and_conditions) {
  const kernel read = kernel_of(" // nothing\n /* nor\n here */ @!%p1 bra $L__1;\n"
                                " { .reg .pred %p1; setp.ne.u32 %p1, %r1, 0; }\n"
                                "$L__1:\n .pragma \"nounroll\";\n st.relaxed.sys.global.u32 [%rd1+-8], 7;");
  EXPECT_EQ(read.name, "small");
  ASSERT_EQ(read.parameters.size(), 2U);
  EXPECT_EQ(read.parameters[1].offset, 8U);
  ASSERT_EQ(read.code.size(), 6U);
  EXPECT_TRUE(read.code[2].if_not);
  EXPECT_EQ(read.code[2].line, 15);
  EXPECT_NE(read.code[2].condition, read.code[3].operands.at(0).reg) << "the inner %p1 is another one";
  EXPECT_EQ(read.labels.at(0).at, 4U);
  EXPECT_EQ(read.code[4].operands.at(0).number, -8);
  EXPECT_EQ(read.code[4].text, "st.relaxed.sys.global.u32 [%rd1+-8], 7");
}

// As nvcc -lineinfo writes it: .loc has no semicolon, and swallows nothing.
TEST(ptx, with_lines_of_its_source_has_all_its_instructions) {
  const kernel read = kernel_of(" .loc 1 20 7\n st.relaxed.sys.global.u32 [%rd1], 7;\n"
                                " .loc 1 21 7, function_name $L__info, inlined_at 1 3 5\n membar.sys;");
  ASSERT_EQ(read.code.size(), 5U);
  EXPECT_EQ(read.code[2].text, "st.relaxed.sys.global.u32 [%rd1], 7");
  EXPECT_EQ(read.code[3].text, "membar.sys");
}

TEST(ptx, of_many_kernels_is_found_by_name) {
  const auto both =
      read_kernels(".entry a() { ret; }\n.weak .entry b(.param .align 8 .b8 b_0[20], .param .u64 b_1)\n"
                   ".maxntid 1024\n{ ret; }");
  EXPECT_EQ(kernel_named(both, "b").parameters.at(1).offset, 24U);
  EXPECT_THROW(kernel_named(both, "c"), usage_error);
}

std::uint64_t value_of(const std::string& text, std::vector<std::uint64_t> inputs) {
  return computed(kernel_of(text + ";").code.at(2), inputs);
}
TEST(ptx, computes_as_a_gpu_does) {
  const std::uint64_t minus_one = 0xffffffffU;
  EXPECT_EQ(value_of("add.s32 %r1, %r2, %r3", {minus_one, 2}), 1U);
  EXPECT_EQ(value_of("sub.s32 %r1, %r2, %r3", {1, 2}), minus_one);
  EXPECT_EQ(value_of("mul.wide.u32 %rd3, %r2, 64", {minus_one, 64}), minus_one * 64);
  EXPECT_EQ(value_of("mul.wide.s32 %rd3, %r2, 64", {minus_one, 64}), std::uint64_t(-64));
  EXPECT_EQ(value_of("mad.lo.s32 %r1, %r2, %r3, %r4", {3, 5, minus_one}), 14U);
  EXPECT_EQ(value_of("setp.lt.s32 %p1, %r2, %r3", {minus_one, 0}), 1U);
  EXPECT_EQ(value_of("setp.lt.u32 %p1, %r2, %r3", {minus_one, 0}), 0U);
  EXPECT_EQ(value_of("setp.eq.and.s32 %p1, %r2, %r3, %p2", {4, 4, 0}), 0U);
  EXPECT_EQ(value_of("shr.s32 %r1, %r2, %r3", {0x80000000U, 4}), 0xf8000000U);
  EXPECT_EQ(value_of("shr.u32 %r1, %r2, 40", {5, 40}), 0U);
  EXPECT_EQ(value_of("cvt.s64.s32 %rd3, %r2", {minus_one}), ~std::uint64_t{0});
  EXPECT_EQ(value_of("cvt.u64.u32 %rd3, %r2", {minus_one}), minus_one);
  EXPECT_EQ(value_of("selp.b32 %r1, %r2, %r3, %p1", {1, 2, 0}), 2U);
  EXPECT_EQ(value_of("not.b32 %r1, %r2", {0}), minus_one);
  EXPECT_EQ(value_of("div.s32 %r1, %r2, %r3", {minus_one, 1}), minus_one);
}

TEST(ptx, what_one_thread_alone_touches_is_no_event) {
  EXPECT_EQ(
      events_of(run(kernel_of(" mov.u32 %r1, 5;\n st.global.u32 [%rd1], %r1;\n ld.global.u32 %r2, [%rd1];\n"
                              " fence.acq_rel.sys;"),
                    {})),
      texts{"0 fence.acq_rel.sys"});
}

// A counter: who comes last writes, and the ways meet again at the block's barrier.
const char* const who_is_last =
    " atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;\n setp.ne.s32 %p1, %r1, 1;\n @%p1 bra $L__1;\n"
    " st.relaxed.gpu.global.u32 [%rd2], %r1;\n$L__1:\n bar.sync 0;\n ld.weak.global.u32 %r3, [%rd2];";
TEST(ptx, a_read_that_decides_makes_ways_that_meet_again) {
  const auto made = run(kernel_of(who_is_last), {.blocks = 2});
  EXPECT_EQ(made.ways, 2U) << "one of each block";
  const auto lines = events_of(made);
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[0], "0 atom.relaxed.gpu.global.add.u32 [0x1000]");
  EXPECT_EQ(lines[1], "0 atom.relaxed.gpu.global.add.u32 [0x1000] = 0+1");
  EXPECT_EQ(lines[2], "0 st.relaxed.gpu.global.u32 [0x2000] = 1 if 0==1");
  EXPECT_EQ(lines[4], "0 ld.weak.global.u32 [0x2000]") << "of both ways";
}

// A poll: one read, of what ends it.
const char* const poll =
    " mov.u32 %r5, %ctaid.x;\n setp.eq.u32 %p3, %r5, 1;\n @%p3 bra $L__2;\n st.relaxed.gpu.global.u32 "
    "[%rd1], 1;\n"
    " ret;\n$L__2:\n ld.relaxed.gpu.global.u32 %r1, [%rd1];\n setp.eq.s32 %p1, %r1, 0;\n @%p1 bra $L__2;\n"
    " fence.acq_rel.gpu;";
TEST(ptx, a_poll_is_the_read_that_ends_it) {
  const auto made = run(kernel_of(poll), {.blocks = 2});
  EXPECT_EQ(events_of(made), (texts{"0 st.relaxed.gpu.global.u32 [0x1000] = 1",
                                    "1 ld.relaxed.gpu.global.u32 [0x1000]", "1 fence.acq_rel.gpu"}));
  ASSERT_EQ(made.program.given.size(), 1U);
  // As many failed ones as are asked for stand before it.
  EXPECT_EQ(run(kernel_of(poll), {.blocks = 2}, 1).program.events.size(), 5U);
}

TEST(ptx, a_vote_tells_lanes_what_one_of_them_read) {
  const auto made =
      run(kernel_of(" mov.u32 %r9, %tid.x;\n setp.ne.u32 %p1, %r9, 0;\n mov.pred %p2, 0;\n @%p1 bra $L__1;\n"
                    " atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;\n setp.eq.s32 %p2, %r1, 1;\n$L__1:\n"
                    " vote.sync.any.pred %p3, %p2, -1;\n @!%p3 bra $L__2;\n bar.warp.sync -1;\n"
                    " st.relaxed.gpu.global.u32 [%rd2], %r9;\n$L__2:\n bar.sync 0;"),
          {.blocks = 2, .threads = 2});
  const auto lines = events_of(made);
  EXPECT_NE(std::find(lines.begin(), lines.end(), "1 st.relaxed.gpu.global.u32 [0x2000] = 1 if 0==1"),
            lines.end())
      << "of the second lane, under what the first one read";
  EXPECT_NE(std::find(lines.begin(), lines.end(), "1 bar.warp.sync -1 if 0==1"), lines.end());
}

// Of the writes of a thread, in order: which reads they depend on.
std::vector<std::vector<int>> dependencies_of(const recording& made, int thread) {
  std::vector<std::vector<int>> all;
  for (const auto& one : made.program.events)
    if (one.kind == event_kind::write && one.thread == thread) all.push_back(one.depends);
  return all;
}
using numbers = std::vector<std::vector<int>>;

// Block 0 reads y and writes x; block 1 waits for that and goes on.
std::string behind_a_poll(const std::string& rest, const std::string& as_well = "") {
  return " mov.u32 %r5, %ctaid.x;\n setp.eq.u32 %p3, %r5, 1;\n @%p3 bra $L__2;\n"
         " ld.relaxed.gpu.global.u32 %r7, [%rd2];\n" +
         as_well +
         " st.relaxed.gpu.global.u32 [%rd1], 1;\n ret;\n"
         "$L__2:\n ld.relaxed.gpu.global.u32 %r1, [%rd1];\n setp.eq.s32 %p1, %r1, 0;\n @%p1 bra $L__2;\n" +
         rest;
}
TEST(ptx, a_write_depends_on_the_poll_that_let_its_thread_go_on) {
  const auto made = run(kernel_of(behind_a_poll(" st.relaxed.gpu.global.u32 [%rd2], 1;")), {.blocks = 2});
  EXPECT_EQ(dependencies_of(made, 0), numbers{{}});
  EXPECT_EQ(dependencies_of(made, 1), numbers{{2}});
}
TEST(ptx, a_write_depends_on_what_its_value_and_its_address_were_computed_from) {
  const auto made = run(kernel_of(" ld.relaxed.gpu.global.u32 %r1, [%rd1];\n and.b32 %r2, %r1, 1;\n"
                                  " st.relaxed.gpu.global.u32 [%rd2], 7;\n"
                                  " st.relaxed.gpu.global.u32 [%rd2+4], %r2;\n mul.wide.u32 %rd3, %r2, 8;\n"
                                  " add.s64 %rd3, %rd3, %rd2;\n st.relaxed.gpu.global.u32 [%rd3+8], 7;\n"
                                  " st.relaxed.gpu.global.u32 [%rd2+32], 7;\n red.global.add.u32 [%rd1], 1;"),
                        {.blocks = 2});
  for (const auto& one : made.program.events) {
    if (one.kind == event_kind::write && one.text.find("0x20") != std::string::npos) {
      EXPECT_EQ(one.depends.empty(), one.text.find("[0x2000]") != std::string::npos ||
                                         one.text.find("[0x2020]") != std::string::npos)
          << one.text;
    }
  }
}
TEST(ptx, a_write_depends_on_no_poll_of_another_thread_without_a_vote) {
  const auto first_lane_polls = [](const std::string& until) {
    return " mov.u32 %r9, %tid.x;\n setp.ne.u32 %p4, %r9, 0;\n mov.u32 %r5, %ctaid.x;\n"
           " setp.eq.u32 %p3, %r5, 1;\n @%p3 bra $L__2;\n ld.relaxed.gpu.global.u32 %r7, [%rd2];\n"
           " @%p4 bra $L__1;\n st.relaxed.gpu.global.u32 [%rd1], 1;\n$L__1:\n ret;\n"
           "$L__2:\n mov.u32 %r1, 1;\n @%p4 bra $L__3;\n ld.relaxed.gpu.global.u32 %r1, [%rd1];\n$L__3:\n"
           " setp.ne.s32 %p1, %r1, 0;\n" +
           until + " st.relaxed.gpu.global.u32 [%rd2], 1;";
  };
  const places both{.blocks = 2, .threads = 2};
  const auto apart = run(kernel_of(first_lane_polls(" @!%p1 bra $L__2;\n")), both);
  EXPECT_EQ(dependencies_of(apart, 2), numbers{{3}});
  EXPECT_EQ(dependencies_of(apart, 3), numbers{{}});
  const auto by_vote =
      run(kernel_of(first_lane_polls(" vote.sync.all.pred %p2, %p1, -1;\n @!%p2 bra $L__2;\n")), both);
  EXPECT_EQ(dependencies_of(by_vote, 2), numbers{{3}});
  EXPECT_EQ(dependencies_of(by_vote, 3), numbers{{3}});
}
TEST(ptx, a_read_that_decides_nothing_any_more_is_no_dependency_and_a_poll_stays_one) {
  const std::string two_ways = " setp.ne.s32 %p1, %r1, 1;\n @%p1 bra $L__1;\n"
                               " st.relaxed.gpu.global.u32 [%rd2], 5;\n$L__1:\n bar.sync 0;\n"
                               " st.relaxed.gpu.global.u32 [%rd2], 6;";
  const auto counted =
      run(kernel_of(" atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 1;\n" + two_ways), {.blocks = 2});
  EXPECT_EQ(dependencies_of(counted, 0), (numbers{{}, {0}, {}}));
  // Three values, of which two let it go on, each on its way.
  const auto polled =
      run(kernel_of(behind_a_poll(two_ways, " st.relaxed.gpu.global.u32 [%rd1], 2;\n")), {.blocks = 2});
  EXPECT_EQ(dependencies_of(polled, 1), (numbers{{3}, {3}}));
}

TEST(ptx, orders_and_scopes_are_those_of_the_text) {
  const auto made =
      run(kernel_of(" ld.acquire.sys.global.u32 %r1, [%rd1];\n st.release.gpu.global.u32 [%rd1], %r1;\n"
                    " ld.volatile.global.u32 %r2, [%rd1];\n membar.gl;\n fence.acquire.sys;\n"
                    " st.u32 [%rd1], 4;\n red.global.add.u32 [%rd2], 1;"),
          {.blocks = 2});
  const auto& e = made.program.events;
  EXPECT_EQ(e.at(0).order, memory_order::order::acquire);
  EXPECT_EQ(e.at(0).scope, memory_order::scope::system);
  EXPECT_EQ(e.at(1).order, memory_order::order::release);
  EXPECT_EQ(e.at(1).scope, memory_order::scope::gpu);
  EXPECT_EQ(e.at(2).order, memory_order::order::relaxed);
  EXPECT_EQ(e.at(2).scope, memory_order::scope::system);
  EXPECT_EQ(e.at(3).fence, memory_order::fence_kind::sc);
  EXPECT_EQ(e.at(4).order, memory_order::order::acquire);
  EXPECT_EQ(e.at(5).order, memory_order::order::weak);
  EXPECT_EQ(e.at(7).of_atomic, 6);
  EXPECT_EQ(e.at(7).scope, memory_order::scope::gpu);
}

TEST(ptx, says_what_it_does_not_know) {
  EXPECT_EQ(refusal_of(" ld.global.nc.u32 %r1, [%rd1];"),
            "PTX, line 13: 'ld.global.nc.u32 %r1, [%rd1]' is a load that is not known here");
  EXPECT_EQ(refusal_of(" wgmma.fence.sync.aligned;"),
            "PTX, line 13: 'wgmma.fence.sync.aligned' is no instruction that is known here");
  EXPECT_EQ(refusal_of(" bra $L__7;"), "PTX, line 13: 'bra $L__7' goes to a label that is not there");
  EXPECT_EQ(
      refusal_of(
          "$L__1:\n ld.relaxed.gpu.global.u32 %r1, [%rd1];\n setp.eq.s32 %p1, %r1, 0;\n @%p1 bra $L__1;"),
      "PTX, line 14: 'ld.relaxed.gpu.global.u32 %r1, [%rd1]' waits for what nobody writes");
  // A loop that goes back to its head and leaves there comes to its end.
  EXPECT_EQ(run(kernel_of(" st.relaxed.gpu.global.u32 [%rd1], 1;\n mov.u32 %r1, 0;\n$L__1:\n"
                          " setp.ne.s32 %p1, %r1, 0;\n @%p1 bra $L__2;\n"
                          " ld.relaxed.gpu.global.u32 %r1, [%rd1];\n bra $L__1;\n$L__2:"),
                {})
                .ways,
            1u);
  EXPECT_EQ(
      refusal_of(" mov.u32 %r1, %tid.x;\n setp.eq.u32 %p1, %r1, 0;\n @%p1 bra $L__1;\n bar.warp.sync -1;\n"
                 "$L__1:\n bar.sync 0;",
                 {.threads = 2}),
      "PTX, line 18: 'bar.sync 0' is not reached by all lanes");
  EXPECT_THROW(read_kernels(".entry a() { add.s32 %r1, %r2, %r3; }"), usage_error);
}

}}  // namespace mgsync::ptx
