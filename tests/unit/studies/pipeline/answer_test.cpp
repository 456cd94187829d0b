#include "src/models/pipeline/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/base/errors.hpp"
#include "src/harness/study.hpp"
#include "src/models/pipeline/measured_answer.hpp"

namespace mgsync {
extern const study pipeline_study;
}

namespace mgsync::pipeline { namespace {

// What `mgsync study pipeline` answers to these axes.
study_answer answered(const typed_words& typed) {
  study_request asked;
  asked.settle(pipeline_study.axes, typed);
  return pipeline_study.answer(asked);
}

void refused_axes(const typed_words& typed, const std::string& because) {
  try {
    answered(typed);
    ADD_FAILURE() << "accepted: " << because;
  } catch (const usage_error& error) {
    EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("accepted"), std::string::npos) << error.what();
  }
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

const std::string wgmma_results = MGSYNC_RESULTS "/h200x1/pipeline-wgmma.json.xz",
                  mma_results = MGSYNC_RESULTS "/h200x1/pipeline-mma.json.xz";

nlohmann::json document_of(const study_answer& a) { return nlohmann::json::parse(a.document->dump()); }

TEST(gemm_size, is_read_strictly) {
  EXPECT_EQ(read_extent("1024x512x8"), (extent{1024, 512, 8}));
  for (const char* wrong : {"", "1024", "1024x512", "1024x512x", "1024x512x0", "1024x-1x8", "1024x512x8x",
                            "ax1x1", "1x1x1 ", "2000000x1x1"})
    EXPECT_THROW(read_extent(wrong), usage_error) << wrong;
}

TEST(gemm_answer, says_which_how_long_and_why) {
  const gemm_question question{{1024, 1024, 1024}, rtx_a6000(), paper_space(), std::chrono::seconds(60)};
  const gemm_answer a = answer(question);
  EXPECT_EQ(a.best.best.tile, (extent{128, 128, 128}));
  EXPECT_TRUE(a.agree);
  EXPECT_EQ(a.waves, 1);
  EXPECT_EQ(a.stages, 8);
  EXPECT_FALSE(a.schedule.empty());
  EXPECT_EQ(a.binds, "DMA startup and latency");
  const std::string words = to_text(question, a);
  for (const char* wanted : {"tile 128x128x128, 1 buffer, 1 producer, 1 consumer", "13.129 us",
                             "64 output tiles in 1 wave (64 SMs in the last), 8 stages each",
                             "one more buffer would not fit", "binds        DMA startup and latency",
                             "assumed      DMA startup of 500 ns: the paper's figure is lost"})
    EXPECT_NE(words.find(wanted), std::string::npos) << wanted << "\n" << words;
  if (!has_z3()) { EXPECT_NE(words.find("no Z3 in this build"), std::string::npos); }
}

TEST(gemm_answer, says_when_nothing_fits) {
  gemm_question question{{64, 64, 64}, rtx_a6000(), paper_space()};
  question.on.shared_bytes = 10;
  const auto a = answer(question);
  EXPECT_NE(to_text(question, a).find("no configuration fits 10 bytes"), std::string::npos);
  const auto document = nlohmann::json::parse(to_document(question, a).dump());
  EXPECT_EQ(document["answer"]["outcome"], "nothing fits");
  EXPECT_TRUE(document["answer"]["best"].is_null());
}

TEST(gemm_answer, is_of_a_measured_h200_where_no_machine_is_named) {
  const auto asked = answered({{"gemm", {"1024x1024x1024"}}});
  EXPECT_TRUE(says(asked.text,
                   "on NVIDIA H200, 132 SMs\n  machine      "
                   "docs/results/h200x1/pipeline-wgmma.json.xz, measured 2026-11-29 by mgsync 0.1.0 "
                   "(54e0b8a2); docs/results/h200x1/pipeline-mma.json.xz"))
      << asked.text;
  EXPECT_FALSE(says(asked.text, "impossible")) << asked.text;
  EXPECT_FALSE(says(asked.text, "solver")) << asked.text;
  EXPECT_EQ(asked.text, answered({{"gemm", {"1024x1024x1024"}}, {"machine", {"h200"}}}).text);
}

TEST(gemm_answer, of_the_built_in_h200_is_that_of_its_results) {
  const auto written = answered({{"machine", {wgmma_results, mma_results}}});
  auto measured = read_machine(written.text, "the results");
  for (std::size_t at; (at = measured.from.find(MGSYNC_RESULTS)) != std::string::npos;)
    measured.from.replace(at, std::string(MGSYNC_RESULTS).size(), "docs/results");
  EXPECT_EQ(measured, h200());
  EXPECT_EQ(measured.tiles.size(), 12u + 2 * 8);
  EXPECT_EQ(written.read, (std::vector<std::string>{wgmma_results, mma_results}));
  EXPECT_EQ(read_machine(answered({{"machine", {"h200"}}}).text, "h200"), h200());
  EXPECT_TRUE(answered({{"machine", {"h200"}}}).read.empty());
}

// What was measured comes first, and its time is the one that the page's errors are of.
TEST(gemm_answer, is_of_a_kernel_that_was_compiled_and_measured) {
  for (const char* size : {"1x1x1", "1000x77x4097", "4096x4096x4096", "1048576x1048576x1048576"}) {
    const auto document = document_of(answered({{"gemm", {size}}}));
    const auto& best = document["answer"]["best"];
    bool known = false;
    for (const tile_profile& p : h200().tiles)
      known |= p.family == best["kernel"].get<std::string>() &&
               text(p.tile) == best["tile"].get<std::string>() && p.producers == best["producers"] &&
               p.consumers == best["consumers"];
    EXPECT_TRUE(known) << best;
    EXPECT_EQ(document["answer"]["compared"].size(), h200().tiles.size());
    for (const auto& one : document["answer"]["compared"]) {
      const auto& parts = one["parts_us"];
      EXPECT_NEAR(parts["launch"].get<double>() + parts["filling"].get<double>() +
                      parts["stages"].get<double>() + parts["ends"].get<double>(),
                  one["time_us"].get<double>(), 1e-6 * one["time_us"].get<double>());
      EXPECT_GE(one["time_us"], document["answer"]["time_us"]);
    }
  }
}

TEST(gemm_answer, says_how_far_off_such_products_were) {
  const auto error = [](const char* size) {
    return document_of(answered({{"gemm", {size}}, {"kernel", {"wgmma"}}}))["answer"];
  };
  EXPECT_EQ(error("512x512x512")["error"]["largest_side"], 1024);
  EXPECT_GE(error("512x512x512")["error"]["products"], 6140);
  EXPECT_EQ(error("64x1025x64")["error"]["largest_side"], 3072);
  EXPECT_EQ(error("8192x64x64")["error"]["largest_side"], 8192);
  EXPECT_EQ(error("8192x64x64")["error_is_of_smaller"], false);
  EXPECT_EQ(error("8193x64x64")["error_is_of_smaller"], true);
  const auto words = answered({{"gemm", {"512x512x512"}}}).text;
  EXPECT_TRUE(says(words, "1.0 % in the mean, 90 % within 2.2 %, 16.6 % at worst")) << words;
  EXPECT_TRUE(says(answered({{"gemm", {"8193x64x64"}}}).text, "none as large as this one was measured"));
}

TEST(gemm_answer, is_of_one_configuration_where_that_is_given) {
  const typed_words one{
      {"gemm", {"4096x4096x4096"}}, {"tile", {"64x128x64"}}, {"consumers", {"2"}}, {"buffers", {"3"}}};
  const auto document = document_of(answered(one));
  const auto& best = document["answer"]["best"];
  EXPECT_EQ(document["answer"]["compared"].size(), 1u);
  EXPECT_EQ(best["buffers"], 3);
  EXPECT_EQ(best["consumers"], 2);
  EXPECT_EQ(best["tile"], "64x128x64");
  // One against the other, explained.
  const auto two =
      answered({{"gemm", {"4096x4096x4096"}}, {"tile", {"128x256x64", "64x64x64"}}, {"kernel", {"wgmma"}}});
  EXPECT_TRUE(says(two.text, "best         kernel wgmma, tile 128x256x64")) << two.text;
  EXPECT_TRUE(says(two.text, "tile 64x64x64, 1 producer, 1 consumer of 4 warps, 4 buffers; stages +"))
      << two.text;
  // Two producers are searched, and are faster.
  EXPECT_EQ(document_of(
                answered({{"gemm", {"4096x4096x4096"}}, {"kernel", {"mma"}}}))["answer"]["best"]["producers"],
            2);
  refused_axes({{"gemm", {"64x64x64"}}, {"tile", {"128x128x128"}}, {"buffers", {"8"}}}, "at most 3 buffers");
  refused_axes({{"gemm", {"64x64x64"}}, {"kernel", {"wgmma"}}, {"producers", {"2"}}},
               "no kernel that was compiled");
}

// The built-in H200 with another best kernel: what it answers, and why it leaves that one out.
measured_answer without_best(const std::function<void(tile_profile&)>& spoil, std::string& document,
                             std::string& words) {
  static machine on;
  on = h200();
  const extent size{4096, 4096, 4096};
  const auto first = answer(measured_question{size, on});
  const auto which = static_cast<std::size_t>(first.ranked.front().kernel - on.tiles.data());
  spoil(on.tiles[which]);
  const measured_question asked{size, on};
  auto answered = answer(asked);
  document = to_document(asked, answered).dump();
  words = to_text(asked, answered);
  return answered;
}

TEST(gemm_answer, is_of_no_kernel_whose_registers_do_not_suffice) {
  const std::pair<std::string, std::function<void(tile_profile&)>> all[] = {
      {"a thread spills 24 bytes to memory", [](tile_profile& p) { p.spilled_bytes = 24; }},
      {"C takes 128 registers of a consumer's thread and the rest at least 8, of 128 that it may use",
       [](tile_profile& p) { p.registers = 128; }},
      {"after setmaxnreg, 256 threads with 240 registers and 128 with 40 need 66560 of an SM's 65536",
       [](tile_profile& p) { p.registers = 240; }}};
  for (const auto& [why, spoil] : all) {
    std::string document, words;
    const auto answered = without_best(spoil, document, words);
    ASSERT_EQ(answered.left_out.size(), 1u) << why;
    EXPECT_EQ(answered.left_out.front().second, why);
    EXPECT_NE(answered.ranked.front().kernel, answered.left_out.front().first);
    EXPECT_EQ(answered.ranked.size() + 1, h200().tiles.size());
    EXPECT_TRUE(says(words, "left out     kernel wgmma, tile 128x256x64")) << words;
    EXPECT_TRUE(says(words, why)) << words;
    EXPECT_TRUE(says(document, why)) << document;
  }
  EXPECT_TRUE(document_of(answered({{"gemm", {"4096x4096x4096"}}}))["answer"]["left_out"].empty());
  for (const tile_profile& p : h200().tiles) EXPECT_EQ(lacks_registers(p), "") << text(p.tile);
}

// 128 x 256 sums are 256 registers of each of four warps' threads, which have 255.
TEST(gemm_answer, by_lines_has_no_more_sums_than_the_kernels_threads_have_registers) {
  for (const char* size : {"1024x1024x1024", "8192x8192x8192", "256x8192x64"}) {
    const auto document = document_of(answered(
        {{"gemm", {size}}, {"machine", {mma_results}}, {"all_tiles", {"on"}}, {"consumers", {"1"}}}));
    const auto tile = read_extent(document["answer"]["best"]["tile"].get<std::string>());
    EXPECT_LT(tile.m * tile.n, 128 * 256) << size << ": " << text(tile);
  }
}

TEST(gemm_answer, says_what_rows_that_begin_inside_a_line_cost) {
  machine on = h200();
  for (tile_profile& p : on.tiles) {
    p.row_starts = {{16, {}, {}}};
    p.row_starts[0].stage.add(132, 2 * p.both.at(132));
  }
  const auto at = [&](int k) {
    const measured_question asked{{4096, 4096, k}, on};
    return std::pair(answer(asked), to_text(asked, answer(asked)));
  };
  const auto [uneven, words] = at(4088);
  const auto [even, no_words] = at(4096);
  EXPECT_NEAR(uneven.padded_ns, even.ranked.front().time.total, 0.05 * even.ranked.front().time.total);
  EXPECT_GT(uneven.ranked.front().time.total, 1.5 * even.ranked.front().time.total);
  EXPECT_TRUE(says(words, "rows         of A and B begin at multiples of 16 bytes only; with K padded"))
      << words;
  EXPECT_EQ(even.padded_ns, 0);
  EXPECT_FALSE(says(no_words, "rows  ")) << no_words;
  EXPECT_EQ(row_start_bytes(4088), 16);
  EXPECT_EQ(row_start_bytes(4096), 128);
  EXPECT_EQ(row_start_bytes(4064), 64);
  EXPECT_EQ(row_start_bytes(4080), 32);
}

TEST(gemm_answer, has_rows) {
  const auto csv = answered({{"gemm", {"4096x4096x4096"}}}).csv;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + static_cast<std::ptrdiff_t>(h200().tiles.size()));
  EXPECT_TRUE(csv.starts_with("gemm,kernel,tile,buffers,producers,consumers,measured,time_us,")) << csv;
  EXPECT_TRUE(says(csv, "\n4096x4096x4096,wgmma,128x256x64,4,1,1,yes,")) << csv;
  EXPECT_TRUE(says(answered({{"gemm", {"64x64x64"}}, {"machine", {"paper"}}}).csv, "\n64x64x64,"));
}

TEST(gemm_answer, marks_the_papers_machine_as_impossible_and_warns_of_a_passed_peak) {
  const auto paper = answered({{"gemm", {"1024x1024x1024"}}, {"machine", {"paper"}}});
  EXPECT_TRUE(says(paper.text, "13.129 us")) << paper.text;
  EXPECT_TRUE(says(paper.text, "  impossible   no such machine exists: its 84 SMs would multiply tiles "
                               "128x128x64 at 132352 TFLOP/s, 855 times the peak of 154.8 TFLOP/s"))
      << paper.text;
  EXPECT_TRUE(says(paper.text, "  warning      163.57 TFLOP/s are more than the hardware's peak of 154.8"))
      << paper.text;
  const auto document = nlohmann::json::parse(paper.document->dump());
  EXPECT_TRUE(document["impossible"].is_string());
  EXPECT_EQ(document["warnings"].size(), 1u);
}

TEST(gemm_answer, passes_no_peak) {
  int held = 0;
  for (const int m : {1, 64, 1000, 16384, 1048576})
    for (const int n : {1, 64, 1000, 16384, 1048576})
      for (const int k : {1, 64, 1000, 16384, 1048576}) {
        const extent size{m, n, k};
        const auto document = document_of(answered({{"gemm", {text(size)}}}));
        for (const auto& one : document["answer"]["compared"]) {
          const double us = one["time_us"], c = 4.0 * m * n - 50 * 1048576;
          EXPECT_LE(2e-6 * m * n * k / us, 989.5 * 1.000001) << text(size);
          EXPECT_LE(c / us, 4.8e6 * 1.000001) << text(size);
          held += one["held_to_the_ceiling"].get<bool>();
        }
        // By lines: not without a word.
        const auto lines = document_of(answered({{"gemm", {text(size)}}, {"all_tiles", {"on"}}}));
        const double us = lines["answer"]["time_us"], c = 4.0 * m * n - 50 * 1048576;
        if (2e-6 * m * n * k / us > 989.5 || c / us > 4.8e6) {
          EXPECT_FALSE(lines["warnings"].empty()) << text(size);
        }
      }
  machine fast = h200();
  fast.peak_tflops = 100;
  const auto slow = answer(measured_question{{4096, 4096, 4096}, fast, {}});
  EXPECT_TRUE(slow.ranked.front().held);
  EXPECT_NEAR(slow.ranked.front().time.total, 2e-3 * 4096 * 4096 * 4096 / 100, 1);
  EXPECT_GE(held, 0);
}

TEST(gemm_answer, says_that_no_peak_is_known) {
  gemm_question question{{512, 512, 512}, h200(), wide_space()};
  question.on.peak_tflops = 0;
  EXPECT_TRUE(says(to_text(question, answer(question)), "  peak         unknown of this machine"));
}

TEST(gemm_answer, is_there_for_scripts) {
  const auto asked = answered({{"gemm", {"8192x28672x8192"}}, {"all_tiles", {"on"}}});
  const auto document = nlohmann::json::parse(asked.document->dump());
  EXPECT_EQ(document["schema"], "mgsync-gemm/1");
  EXPECT_EQ(document["gemm"], "8192x28672x8192");
  machine lines = h200();
  lines.tiles.clear();
  EXPECT_EQ(read_machine(document["machine"].dump(), "the answer"), lines);
  EXPECT_TRUE(document["impossible"].is_null() && document["solver"].is_null());
  const auto& found = document["answer"];
  EXPECT_EQ(found["outcome"], "optimal");
  const extent tile = read_extent(found["best"]["tile"].get<std::string>());
  const configuration best{tile,
                           {found["best"]["producers"], found["best"]["consumers"], found["best"]["buffers"],
                            found["best"]["persistent"]}};
  const auto time = predict(h200(), {8192, 28672, 8192}, best);
  EXPECT_DOUBLE_EQ(found["time_us"].get<double>(), static_cast<double>(time.total) / 1e6);
  EXPECT_DOUBLE_EQ(found["waiting_us"].get<double>(), static_cast<double>(time.waiting) / 1e6);
  EXPECT_NEAR(found["tflops"].get<double>(), 2e-6 * 8192 * 28672 * 8192 / found["time_us"].get<double>(),
              1e-6);
  EXPECT_EQ(found["stages"], 64);
  EXPECT_EQ(found["twice_as_good"][0]["what"], found["binds"]);
  EXPECT_TRUE(says(asked.text, fmt::format("{:.3f} us", found["time_us"].get<double>()))) << asked.text;
}

TEST(gemm_answer, asks_the_solver_only_where_it_is_wanted) {
  const auto document = nlohmann::json::parse(
      answered({{"gemm", {"1024x1024x1024"}}, {"machine", {"paper"}}, {"solver", {"on"}}}).document->dump());
  ASSERT_EQ(document["solver"].is_null(), !has_z3());
  if (has_z3() && document["solver"]["outcome"] == "optimal") {
    EXPECT_EQ(document["solver"]["time_us"], document["answer"]["time_us"]);
    EXPECT_EQ(document["solver"]["agrees"], true);
  }
}

TEST(gemm_answer, refuses_what_it_does_not_use) {
  const std::vector<std::string> size{"512x512x512"};
  refused_axes({{"gemm", size}, {"size", {"paper"}}}, "--size");
  refused_axes({{"gemm", size}, {"solver", {"on"}}}, "--solver");
  refused_axes({{"gemm", size}, {"kernel", {"wgmma"}}, {"all_tiles", {"on"}}}, "--kernel");
  refused_axes({{"gemm", size}, {"kernel", {"synthetic"}}}, "no kernel that was compiled");
  refused_axes({{"gemm", size}, {"machine", {"paper", "h200"}}}, "only results can be put together");
  for (const char* axis : {"buffers", "producers", "consumers"})
    refused_axes({{axis, {"1"}}}, fmt::format("--{}", axis));
  refused_axes({{"all_tiles", {"on"}}}, "--all-tiles");
  refused_axes({{"gemm", size}, {"machine", {"paper"}}, {"kernel", {"wgmma"}}}, "--kernel");
  refused_axes({{"machine", {"h200"}}, {"size", {"paper"}}}, "--size");
  refused_axes({{"machine", {"h200"}}, {"solver", {"on"}}}, "--solver");
  refused_axes({{"machine", {wgmma_results}}, {"kernel", {"mma"}}}, "hold no two tiles of mma");
  EXPECT_TRUE(says(answered({{"gemm", size}, {"machine", {wgmma_results}}, {"kernel", {"wgmma"}}}).text,
                   "kernel wgmma"));
}

TEST(attention_answer, takes_the_times_and_says_that_nothing_was_measured) {
  const std::vector<std::string> times{"200", "300", "0.35us", "300"};
  const auto asked = answered({{"attention", times}, {"stages", {"32"}}});
  for (const char* wanted : {"32 tiles of K and V", "best         ping-pong, ", "softmax 350.0, PV 300.0",
                             "no kernel was measured for this", "NVIDIA H200: what a load takes"})
    EXPECT_TRUE(says(asked.text, wanted)) << wanted << "\n" << asked.text;
  EXPECT_EQ(asked.figures.size(), 1u);
  EXPECT_EQ(std::ranges::count(asked.csv, '\n'), 1 + 2 * 8);
  const auto one = answered({{"attention", times}, {"buffers", {"2"}}, {"consumers", {"1"}}});
  EXPECT_TRUE(says(one.text, "best         cooperative, 2 buffers")) << one.text;
  EXPECT_EQ(std::ranges::count(one.csv, '\n'), 1 + 1);
  for (const char* wrong : {"", "-1", "fast", "1s", "nan"})
    refused_axes({{"attention", {"200", "300", wrong, "300"}}}, "four times in ns");
  refused_axes({{"attention", {"200", "300", "350"}}}, "four times in ns");
  refused_axes({{"stages", {"4"}}}, "--stages");
  refused_axes({{"attention", times}, {"gemm", {"64x64x64"}}}, "--gemm");
  refused_axes({{"attention", times}, {"skeleton", {"out.cu"}}}, "--skeleton");
}

// The first stages of a product that would have 262144 of them, and not one event more.
TEST(gemm_answer, draws_the_beginning_of_a_long_schedule) {
  const auto drawn = answer({{64, 64, 1048576}, h200(), wide_space()}).schedule;
  EXPECT_EQ(drawn.size(), 3u * 256);
  EXPECT_TRUE(
      std::ranges::none_of(drawn, [](const timeline_span& s) { return s.event.starts_with("epilogue"); }));
}

}}  // namespace mgsync::pipeline
