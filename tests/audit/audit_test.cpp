// What `mgsync audit` finds in barriers that have order faults (tests/audit/barriers.cu), in PTX and in
// machine code; that it finds nothing in sound ones, and in those that ship; and that each rule notices when
// a fence is taken out of a sound barrier.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "audited_code.hpp"

namespace mgsync { namespace {

using namespace mgsync::test;

struct wrong_one {
  const char* kernel;
  words in_text, in_machine_code;
};
const std::vector<wrong_one> wrong = {
    {"wrong_relaxed_start", {"fault release"}, {"fault release"}},
    {"wrong_relaxed_rounds", {"fault release", "fault release"}, {"fault release", "fault release"}},
    {"wrong_fence_elsewhere", {"fault release", "fault release"}, {"fault release", "fault release"}},
    {"wrong_only_the_poller_acquires",
     {"fault acquire", "fault acquire"},
     {"fault acquire", "fault acquire"}},
    {"wrong_nobody_waits_for_the_poller", {"fault poller-alone"}, {"fault poller-alone"}},
    {"wrong_nobody_waits_for_the_others",
     {"fault speaker-alone", "fault speaker-alone"},
     {"fault speaker-alone", "fault speaker-alone"}},
    {"wrong_flag_beside_the_others", {"fault speaker-alone"}, {"fault speaker-alone"}},
    {"wrong_shared_barrier", {"fault acquire"}, {"fault acquire"}},
    {"wrong_lock", {"fault acquire", "fault release"}, {"fault acquire", "fault release"}},
    {"wrong_acquire_elsewhere", {"fault acquire", "fault acquire"}, {"fault acquire", "fault acquire"}},
    // ptxas has left the loop out: in machine code nothing waits.
    {"wrong_missing_clobber", {"fault endless-loop"}, {}},
    {"wrong_plain_poll", {"fault endless-loop"}, {"fault endless-loop"}},
    {"wrong_ordinary_poll", {"fault ordinary-poll"}, {"fault ordinary-poll"}},
    {"wrong_narrow_fence", {"fault release-scope", "fault release-scope"}, {}},
    {"doubtful_equality", {"doubt equality", "doubt equality"}, {"doubt equality", "doubt equality"}},
};

TEST(audit, finds_the_faults_of_wrong_barriers_in_ptx) {
  for (const auto& one : wrong) EXPECT_EQ(found(ptx(), one.kernel), one.in_text) << one.kernel;
}
TEST(audit, finds_the_faults_of_wrong_barriers_in_machine_code) {
  for (const auto& one : wrong) EXPECT_EQ(found(cubin(), one.kernel), one.in_machine_code) << one.kernel;
}

TEST(audit, asks_whether_other_gpus_take_part_or_is_told) {
  for (const auto* bytes : {&ptx(), &cubin()}) {
    const auto untold = report_of({{"code", *bytes}}, "wrong_gpu_scope");
    EXPECT_TRUE(untold.findings.empty());
    ASSERT_EQ(untold.not_known.size(), 1u);
    EXPECT_NE(untold.not_known[0].what.find("--across-gpus"), std::string::npos);
    const auto told = found(*bytes, "wrong_gpu_scope", true);
    // A volatile poll is one of system scope in machine code.
    EXPECT_EQ(told.count(bytes == &ptx() ? "fault flag-scope" : "doubt flag-scope"), 2u);
    EXPECT_EQ(told.count("fault release-scope"), 2u);
    EXPECT_FALSE(found(*bytes, "sound_grid", true).empty());
    EXPECT_EQ(found(*bytes, "wrong_narrow_fence", true),
              (words{"fault release-scope", "fault release-scope"}));
  }
  // An acquire leaves no scope in machine code.
  EXPECT_EQ(found(ptx(), "wrong_gpu_scope", true).count("fault acquire-scope"), 2u);
}

TEST(audit, finds_nothing_in_sound_barriers) {
  const std::map<std::string, std::size_t> waits{
      {"sound_release_acquire", 2}, {"sound_fences", 2}, {"sound_volatile", 2},         {"sound_grid", 1},
      {"sound_shared_barrier", 1},  {"sound_taken", 4},  {"sound_speaks_for_itself", 1}};
  for (const auto& [kernel, count] : waits) {
    const auto r = report_of({{"code", ptx()}}, kernel);
    EXPECT_EQ(found_in(r), words{}) << kernel;
    EXPECT_EQ(r.waits.size(), count) << kernel << ": it must be seen to wait";
    EXPECT_EQ(found(cubin(), kernel), words{}) << kernel;
    if (kernel == "sound_grid") continue;
    EXPECT_EQ(found(ptx(), kernel, true), words{}) << kernel;
    EXPECT_EQ(found(cubin(), kernel, true), words{}) << kernel;
  }
}

TEST(audit, finds_nothing_in_what_ships) {
  for (const char* file : {"two_rounds_80", "two_rounds_90", "two_rounds_100", "backends_90"}) {
    const auto all =
        audit::audit_bytes({{file, content(MGSYNC_ORDER_TEXTS "/" + std::string(file) + ".ptx")}}, {});
    ASSERT_GE(all.parts.at(0).functions.size(), 3u);
    for (std::size_t i = 0; i < all.parts[0].functions.size(); ++i) {
      const auto& r = all.parts[0].reports[i];
      const std::string& name = all.parts[0].functions[i].name;
      if (name.rfind("hop_", 0) == 0 || name.rfind("sync_none", 0) == 0 ||
          name.rfind("sync_acquire", 0) == 0 || name.rfind("sync_release", 0) == 0 ||
          name == "flags_unordered_rounds" || name == "data_with_epoch_rounds")
        continue;  // orders less: below
      // Of other projects: each flag is equal in its turn, which two flags in turn, or signs, keep apart.
      static const std::set<std::string> by_turns{"flags_per_block_rounds", "flags_of_block_0_rounds",
                                                  "sign_alternating_rounds", "equal_blocks_rounds"};
      words all_found = found_in(r);
      if (by_turns.count(name) != 0) { EXPECT_GT(all_found.erase("doubt equality"), 0u) << name; }
      EXPECT_EQ(all_found, words{}) << file << ": " << name;
      const bool looks = name.rfind("try_wait", 0) == 0;  // once, and does not wait
      EXPECT_GE(r.waits.size(), looks ? 0u : 2u) << file << ": " << name;
    }
  }
}
TEST(audit, finds_what_hops_leave_out_that_say_so) {
  const auto text = content(MGSYNC_ORDER_TEXTS "/backends_90.ptx");
  EXPECT_EQ(found(text, "hop_release_acquire_rounds").count("fault release"), 0u);
  EXPECT_EQ(found(text, "hop_release_acquire_rounds").count("fault acquire"), 0u);
  EXPECT_GT(found(text, "hop_release_acquire_rounds").count("fault poller-alone"), 0u);
  EXPECT_GT(found(text, "hop_release_acquire_rounds").count("fault speaker-alone"), 0u);
  const auto relaxed = found(text, "hop_relaxed_rounds");
  EXPECT_GT(relaxed.count("fault release"), 0u);
  EXPECT_GT(relaxed.count("fault acquire"), 0u);
}
TEST(audit, finds_what_other_projects_leave_out) {
  const auto text = content(MGSYNC_ORDER_TEXTS "/backends_90.ptx");
  const auto unordered = found(text, "flags_unordered_rounds");
  EXPECT_GT(unordered.count("fault acquire"), 0u);
  EXPECT_GT(found(text, "data_with_epoch_rounds").count("fault acquire"), 0u);
}
TEST(audit, finds_which_half_the_rounds_leave_out_that_order_less) {
  const auto text = content(MGSYNC_ORDER_TEXTS "/two_rounds_90.ptx");
  for (const auto& [kernel, releases, acquires] :
       {std::tuple("sync_none", false, false), std::tuple("sync_acquire", false, true),
        std::tuple("sync_release", true, false)}) {
    const auto faults = found(text, kernel);
    EXPECT_EQ(faults.count("fault release") == 0, releases) << kernel;
    EXPECT_EQ(faults.count("fault acquire") == 0, acquires) << kernel;
  }
}
TEST(audit, finds_what_was_taken_out_of_what_ships) {
  const auto text = content(MGSYNC_ORDER_TEXTS "/two_rounds_90.ptx"),
             other = content(MGSYNC_ORDER_TEXTS "/backends_90.ptx");
  for (const char* kernel : {"sync", "arrive_and_wait", "sync_with_word"}) {
    EXPECT_GT(found(changed(text, kernel, "fence.release"), kernel).count("fault release"), 0u) << kernel;
    EXPECT_GT(found(changed(text, kernel, "fence.acquire"), kernel).count("fault acquire"), 0u) << kernel;
    EXPECT_GT(found(changed(text, kernel, "fence.release.sys", "fence.release.gpu"), kernel)
                  .count("fault release-scope"),
              0u)
        << kernel;
  }
  for (const char* kernel : {"sync", "arrive_and_wait"})
    EXPECT_GT(found(changed(text, kernel, "bar.sync"), kernel).count("fault speaker-alone"), 0u) << kernel;
  EXPECT_GT(found(changed(other, "inbox_rounds", "ld.acquire.sys", "ld.relaxed.sys"), "inbox_rounds")
                .count("fault acquire"),
            0u);
}

TEST(audit, notices_each_half_that_is_left_out_of_a_sound_barrier) {
  const auto names = [](const std::string& text, const std::string& kernel) {
    const auto all = found(text, kernel);
    return std::set<std::string>(all.begin(), all.end());
  };
  using set = std::set<std::string>;
  const std::string both = "sound_release_acquire";
  EXPECT_EQ(names(changed(ptx(), both, "st.release.sys", "st.relaxed.sys"), both), set{"fault release"});
  EXPECT_EQ(names(changed(ptx(), both, "ld.acquire.sys", "ld.relaxed.sys"), both), set{"fault acquire"});
  EXPECT_EQ(names(changed(ptx(), both, "ld.acquire.sys", "ld.volatile"), both), set{"fault acquire"});
  EXPECT_EQ(names(changed(ptx(), both, "bar.sync"), both),
            (set{"fault poller-alone", "fault speaker-alone"}));
  for (const char* kernel : {"sound_fences", "sound_volatile"})
    EXPECT_EQ(names(changed(ptx(), kernel, "membar.sys"), kernel), (set{"fault acquire", "fault release"}))
        << kernel;
  EXPECT_EQ(names(changed(ptx(), "sound_fences", "membar.sys", "fence.release.sys"), "sound_fences"),
            set{"fault acquire"});
  EXPECT_EQ(names(changed(ptx(), "sound_fences", "membar.sys", "fence.acquire.sys"), "sound_fences"),
            set{"fault release"});
  EXPECT_EQ(names(changed(ptx(), "sound_fences", "membar.sys", "fence.proxy.async"), "sound_fences"),
            (set{"fault acquire", "fault release"}));
  EXPECT_EQ(names(changed(ptx(), "sound_fences", "membar.sys", "membar.gl"), "sound_fences"),
            (set{"fault acquire-scope", "fault release-scope"}));
  EXPECT_EQ(names(changed(ptx(), "sound_taken", "atom.cas.acquire", "atom.cas.relaxed"), "sound_taken"),
            set{"fault acquire"});
}

// What lone_threads.ptx says of each by its name.
TEST(audit, knows_who_stores_beside_who_sets_the_flag) {
  const auto all = audit::audit_bytes({{"lone", content(MGSYNC_AUDIT_CODE "/lone_threads.ptx")}}, {});
  const auto& functions = all.parts.at(0).functions;
  ASSERT_GE(functions.size(), 20u);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::string& name = functions[i].name;
    const auto told = found_in(all.parts[0].reports[i]);
    EXPECT_EQ(told.count("fault speaker-alone"), name.starts_with("wrong_") ? 1u : 0u) << name;
    EXPECT_EQ(told.count("doubt speaker-alone"), name.starts_with("doubtful_") ? 1u : 0u) << name;
    EXPECT_FALSE(all.parts[0].reports[i].waits.empty()) << name;
  }
}

TEST(audit, takes_what_is_read_for_an_address_or_as_a_bound_for_no_poll) {
  for (const auto* bytes : {&ptx(), &cubin()}) {
    for (const char* kernel : {"sound_flags_in_memory", "sound_bound_in_memory", "sound_gives_up"}) {
      EXPECT_EQ(found(*bytes, kernel), words{}) << kernel;
      EXPECT_EQ(report_of({{"code", *bytes}}, kernel).waits.size(), 1u) << kernel;
    }
    EXPECT_EQ(found(*bytes, "wrong_flags_in_memory"), words{"fault acquire"});
  }
  const auto ordinary = changed(ptx(), "sound_flags_in_memory", "ld.acquire.sys.global.u32", "ld.global.u32");
  EXPECT_EQ(found(ordinary, "sound_flags_in_memory").count("fault ordinary-poll"), 1u);
}

// What others do besides barriers: docs/audit.md tells what NVSHMEM's library was accused of.
TEST(audit, takes_no_ticket_and_no_word_of_a_descriptor_for_a_flag) {
  for (const auto* bytes : {&ptx(), &cubin()}) {
    const auto r = report_of({{"code", *bytes}}, "queue_of_descriptors");
    EXPECT_EQ(found_in(r), words{});
    ASSERT_FALSE(r.not_known.empty());
    EXPECT_EQ(r.not_known[0].at.size(), 4u) << "the ticket and the three words: " << r.not_known[0].what;
    EXPECT_EQ(found(*bytes, "tells_the_largest"), words{});
    EXPECT_EQ(found(*bytes, "wrong_largest_for_who_waits"), words{"fault release"});
  }
  // Words that nothing behind them publishes are flags; the fence of the block ahead may be meant for those
  // that are volatile.
  for (const char* instead : {"", "membar.cta"})
    EXPECT_EQ(
        found(changed(ptx(), "queue_of_descriptors", "membar.sys", instead), "queue_of_descriptors"),
        (words{"doubt release-scope", "doubt release-scope", "doubt release-scope", "fault release-scope"}));
}
TEST(audit, finds_nothing_where_all_wait_though_some_do_more_before) {
  for (const auto* bytes : {&ptx(), &cubin()}) {
    EXPECT_EQ(found(*bytes, "who_prepares_waits_too"), words{});
    EXPECT_EQ(report_of({{"code", *bytes}}, "who_prepares_waits_too").waits.size(), 1u);
  }
}
TEST(audit, asks_whether_a_flag_brings_its_data_along) {
  for (const auto* bytes : {&ptx(), &cubin()}) {
    EXPECT_EQ(found(*bytes, "data_with_its_flag").count("fault release"), 0u);
    EXPECT_EQ(report_of({{"code", *bytes}}, "data_with_its_flag").waits.size(), 1u);
  }
  EXPECT_EQ(found(changed(ptx(), "data_with_its_flag", "st.volatile.global.v4", "st.volatile.global"),
                  "data_with_its_flag")
                .count("fault release"),
            1u);
}
TEST(audit, doubts_what_a_shuffle_or_a_fence_of_the_block_may_be_right_for) {
  EXPECT_EQ(found(ptx(), "doubtful_shuffle"), words{"doubt poller-alone"});
  const auto without = changed(ptx(), "doubtful_shuffle", "shfl.sync.idx.b32", "prmt.b32");
  EXPECT_EQ(found(without, "doubtful_shuffle"), words{"fault poller-alone"});
  for (const auto* bytes : {&ptx(), &cubin()}) {
    EXPECT_EQ(found(*bytes, "doubtful_fence_of_a_block"), words{"doubt acquire-scope"});
    EXPECT_EQ(found(*bytes, "doubtful_fence_of_a_block", true), words{"fault acquire-scope"});
  }
  const auto said = changed(ptx(), "doubtful_fence_of_a_block", "ld.volatile", "ld.relaxed.sys");
  EXPECT_EQ(found(said, "doubtful_fence_of_a_block"), words{"fault acquire-scope"});
}

// A kernel of a flag in %rd1, data in %rd2 and a mode in %r9, of which each thread has its number in %r1.
words found_in_body(const std::string& body) {
  return found(".version 9.0\n.target sm_90\n.visible .entry small(\n.param .u64 small_param_0,\n"
               ".param .u64 small_param_1,\n.param .u32 small_param_2\n)\n{\n.reg .pred %p<9>;\n"
               ".reg .b32 %r<20>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [small_param_0];\n"
               "ld.param.u64 %rd2, [small_param_1];\nld.param.u32 %r9, [small_param_2];\n"
               "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n" +
                   body + "\nret;\n}\n",
               "small");
}
const std::string waits = "$L__loop:\nld.acquire.sys.global.u32 %r2, [%rd1];\nsetp.eq.s32 %p3, %r2, 0;\n"
                          "@%p3 bra $L__loop;\n",
                  reads = "ld.global.u32 %r3, [%rd2];\nst.global.u32 [%rd2+4], %r3;\n";

TEST(audit, knows_which_way_threads_go_by_what_was_put_into_a_predicate) {
  const auto told = [](const std::string& of_others, const std::string& ahead = "") {
    return found_in_body("mov.pred %p2, " + of_others + ";\n" + ahead + "@%p1 bra $L__all;\n" + waits +
                         "mov.pred %p2, 0;\n$L__all:\n@%p2 bra $L__end;\n" + reads + "$L__end:");
  };
  EXPECT_EQ(told("-1"), words{});
  EXPECT_EQ(told("0"), words{"fault poller-alone"});
  EXPECT_EQ(told("-1", "setp.eq.s32 %p2, %r9, 0;\n"), words{"fault poller-alone"})
      << "nothing is known of it";
  EXPECT_EQ(told("-1", "mov.pred %p4, 0;\nmov.pred %p2, %p4;\n"), words{"fault poller-alone"});
}
TEST(audit, tells_bits_that_differ_between_threads_from_others_of_a_word) {
  const auto by_bit = [](const std::string& bit, const std::string& also = "") {
    return found_in_body("selp.b32 %r4, 16, 48, %p1;\nand.b32 %r5, %r9, 8;\nor.b32 %r6, %r4, %r5;\n" + also +
                         "and.b32 %r7, %r6, " + bit + ";\nsetp.eq.s32 %p2, %r7, 0;\n@%p2 bra $L__around;\n" +
                         waits + "$L__around:\n" + reads);
  };
  const words alone{"fault poller-alone"};
  EXPECT_EQ(by_bit("8"), words{});
  EXPECT_EQ(by_bit("16"), words{}) << "all have it";
  EXPECT_EQ(by_bit("32"), alone);
  EXPECT_EQ(by_bit("8", "shr.u32 %r6, %r6, 2;\n"), alone);
  EXPECT_EQ(by_bit("64", "shl.b32 %r6, %r6, 1;\n"), alone);
  EXPECT_EQ(by_bit("8", "add.s32 %r6, %r6, 512;\n"), words{});
  EXPECT_EQ(by_bit("64", "add.s32 %r6, %r6, 32;\n"), alone) << "carried";
  EXPECT_EQ(by_bit("8", "mul.lo.s32 %r6, %r6, 3;\n"), alone);
  EXPECT_EQ(by_bit("8", "selp.b32 %r6, %r9, %r6, %p1;\n"), alone);
  EXPECT_EQ(by_bit("8", "@%p1 mov.b32 %r6, 0;\n"), alone);
  EXPECT_EQ(by_bit("1", "mov.b64 %rd3, {%r9, %r1};\nmov.b64 {%r9, %r6}, %rd3;\n"), alone);
}
TEST(audit, blames_no_branch_whose_two_ways_come_to_the_loop) {
  const auto with = [](const std::string& where) {
    return found_in_body("setp.eq.s32 %p2, %r9, 0;\n@%p1 bra " + where +
                         ";\nst.global.u32 [%rd2+8], %r1;\n$L__both:\n@%p2 bra $L__around;\n" + waits +
                         "$L__around:\n" + reads);
  };
  EXPECT_EQ(with("$L__both"), words{});
  EXPECT_EQ(with("$L__around"), words{"fault poller-alone"});
}

TEST(audit, blames_no_loop_in_which_a_kernel_stops_on_purpose) {
  const auto stops = [](const std::string& by, const std::string& ahead) {
    return found_in_body("ld.global.u32 %r2, [%rd1];\n" + by + "@%p2 bra $L__on;\n" + ahead +
                         "$L__stop:\nbra.uni $L__stop;\n$L__on:");
  };
  const std::string by_memory = "setp.eq.s32 %p2, %r2, 1;\n";
  EXPECT_EQ(stops(by_memory, ""), words{"fault endless-loop"});
  EXPECT_EQ(stops(by_memory, "st.global.u32 [%rd2], %r2;\n"), words{});
  EXPECT_EQ(stops(by_memory, "call report;\n"), words{});
  EXPECT_EQ(stops("setp.eq.s32 %p2, %r9, 1;\n", ""), words{}) << "by a parameter";
}

TEST(audit, takes_no_loop_for_a_wait_that_is_none) {
  for (const char* kernel : {"work_queue", "largest_of", "walks_a_list", "counts_far"})
    for (const auto* bytes : {&ptx(), &cubin()}) {
      const auto r = report_of({{"code", *bytes}}, kernel);
      EXPECT_TRUE(r.waits.empty() && r.findings.empty()) << kernel;
    }
}

TEST(audit, says_whether_something_else_than_the_flag_ends_a_wait) {
  const auto bound = [](const std::string& text, const char* kernel) {
    const auto r = report_of({{"code", text}}, kernel);
    return !r.waits.empty() &&
           std::all_of(r.waits.begin(), r.waits.end(), [](const auto& w) { return w.has_bound; });
  };
  for (const auto* bytes : {&ptx(), &cubin()}) {
    EXPECT_TRUE(bound(*bytes, "sound_gives_up"));
    for (const char* kernel : {"sound_fences", "sound_flags_in_memory", "sound_bound_in_memory"})
      EXPECT_FALSE(bound(*bytes, kernel)) << kernel;
  }
  const std::string kernel = "who_prepares_waits_too", poll = "ld.acquire.sys.global.u32";
  const auto with = [&](const std::string& more) { return changed(ptx(), kernel, poll, more + poll); };
  EXPECT_FALSE(bound(with(""), kernel.c_str()));
  EXPECT_TRUE(bound(with("call f;\n"), kernel.c_str()));
  EXPECT_TRUE(bound(with("@%p1 ret;\n"), kernel.c_str()));
}

TEST(audit, says_why_a_function_was_not_judged) {
  const auto why = [](const char* kernel) { return report_of({{"code", ptx()}}, kernel).not_judged; };
  EXPECT_EQ(why("work_queue"), "each loop that reads global memory stores data, too");
  EXPECT_EQ(why("walks_a_list"), "no loop that is left by what one address in global memory holds");
  EXPECT_EQ(why("sound_fences"), "");
  EXPECT_EQ(why("clocks_around_a_load"), "");
  EXPECT_EQ(why("wrong_plain_poll"), "") << "it has a finding";
  const std::string head = ".version 9.0\n.visible .entry k(){\n.reg .b32 %r<3>;\n.reg .pred %p1;\n";
  EXPECT_EQ(report_of({{"code", head + "ret;\n}\n"}}, "k").not_judged, "no loop (calls are not followed)");
  EXPECT_EQ(report_of({{"code", head + "L:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\n"
                                       "ret;\n}\n"}},
                      "k")
                .not_judged,
            "no loop that reads global memory");
}

}}  // namespace mgsync
