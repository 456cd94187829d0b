// The text of what `mgsync study pipeline --skeleton` prints; tests/studies/skeleton_test.py compiles and
// runs it.
#include "src/studies/pipeline/skeleton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/harness/study.hpp"
#include "src/studies/pipeline/gemm_instances.hpp"

namespace mgsync {
extern const study pipeline_study;
}

namespace mgsync::pipeline { namespace {

std::vector<named_text> written(typed_words typed) {
  typed.insert({{"gemm", {"4096x4000x4090"}}, {"skeleton", {"out.cu"}}});
  study_request asked;
  asked.settle(pipeline_study.axes, typed);
  return pipeline_study.answer(asked).written;
}

std::string text_of(const typed_words& typed) {
  const auto all = written(typed);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().option, "skeleton");
  EXPECT_EQ(all.front().file, "out.cu");
  return all.front().text;
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

void expect_refused(const typed_words& typed, const std::string& because) {
  try {
    written(typed);
    ADD_FAILURE() << "accepted: " << because;
  } catch (const usage_error& error) {
    EXPECT_TRUE(has(error.what(), because)) << error.what();
    EXPECT_TRUE(has(error.what(), "accepted")) << error.what();
  }
}

TEST(skeleton, has_the_answers_constants) {
  const auto words = text_of({});
  for (const char* wanted :
       {"constexpr int tile_m = 128, tile_n = 256, tile_k = 64;", "constexpr unsigned buffers = 4;",
        "constexpr int consumer_groups = 2;", "constexpr bool ping_pong = false;",
        "traded_consumer_registers = 232, traded_producer_registers = 40;",
        "given_m = 4096, given_n = 4000, given_k = 4096;", "foretold_on = \"NVIDIA H200\"",
        "-gencode arch=compute_90a,code=sm_90a",
        "--gemm 4096x4000x4090 --kernel wgmma --tile 128x256x64 --buffers 4 --producers 1",
        "// This kernel was compiled and measured by mgsync.", "wgmma.mma_async.sync.aligned.m64n256k16"})
    EXPECT_TRUE(has(words, wanted)) << wanted << "\n" << words;
}

TEST(skeleton, has_the_constants_that_were_asked_for) {
  const auto taking_turns = text_of({{"tile", {"64x128x64"}}, {"consumers", {"2"}}, {"buffers", {"3"}}});
  for (const char* wanted : {"tile_m = 64, tile_n = 128, tile_k = 64;", "buffers = 3;",
                             "consumer_groups = 2;", "ping_pong = true;", "m64n128k16"})
    EXPECT_TRUE(has(taking_turns, wanted)) << wanted;
  const auto mma = text_of({{"kernel", {"mma"}}, {"tile", {"64x128x128"}}, {"producers", {"1"}}});
  for (const char* wanted : {"tile_m = 64, tile_n = 128, tile_k = 128;", "constexpr int producers = 1;",
                             "mma.sync", "-arch=sm_90 FILE.cu", "compute_capability >= 80"})
    EXPECT_TRUE(has(mma, wanted)) << wanted;
  EXPECT_FALSE(has(mma, "ping_pong"));
}

// Of each kernel that the built-in machine has: nothing of the study is left over, and it can be read.
TEST(skeleton, of_every_measured_kernel_stands_by_itself) {
  ASSERT_EQ(pipeline::h200().tiles.size(), 12u + 2 * 8);
  for (const tile_profile& p : pipeline::h200().tiles) {
    const auto words = skeleton({{512, 512, 512}, p, 2, 1, pipeline::h200()});
    for (const char* foreign : {"mgsync::", "MGSYNC", "#include \"", "parts;", ".parts", "notes", "Recorder",
                                "Buffer", "loads_now", "filled", "skeleton >>", "cuda::"})
      EXPECT_FALSE(has(words, foreign)) << foreign << " in " << p.family << " " << text(p.tile);
    for (const char* wanted : {"longest_wait_cycles) give_up(address)", "int main(", "mbarrier_wait("})
      EXPECT_TRUE(has(words, wanted)) << wanted;
    EXPECT_LT(std::ranges::count(words, '\n'), 490) << p.family;
    EXPECT_EQ(std::ranges::count(words, '{'), std::ranges::count(words, '}'));
  }
}

TEST(skeleton, is_of_what_is_compiled_and_measured) {
  expect_refused({{"machine", {"paper"}}}, "with a machine whose kernels were measured");
  expect_refused({{"all_tiles", {"on"}}, {"tile", {"128x128x64"}}, {"consumers", {"2"}}},
                 "without --all-tiles");
  expect_refused({{"kernel", {"cublas"}}}, "no kernel that was compiled");
  const auto by_lines =
      text_of({{"all_tiles", {"on"}}, {"tile", {"128x128x64"}}, {"consumers", {"1"}}, {"buffers", {"4"}}});
  EXPECT_TRUE(has(by_lines, "chosen by lines")) << by_lines;
  EXPECT_FALSE(has(by_lines, "was compiled and measured by mgsync"));
  // A machine file with a kernel that this mgsync has no source of, and a name that is no C++.
  machine own = pipeline::h200();
  own.name = "a \"GPU\"\n\\";
  tile_profile p = own.tiles.front();
  EXPECT_TRUE(has(skeleton({{64, 64, 64}, p, 2, 1, own}), "foretold_on = \"a  GPU   \";"));
  p.tile = {192, 64, 64};
  EXPECT_THROW(skeleton({{64, 64, 64}, p, 2, 1, own}), usage_error);
}

}}  // namespace mgsync::pipeline
