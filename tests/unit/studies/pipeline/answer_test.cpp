#include "src/studies/pipeline/answer.hpp"

#include <gtest/gtest.h>

#include "src/base/errors.hpp"

namespace mgsync::pipeline {
namespace {

TEST(gemm_size, is_read_strictly) {
  EXPECT_EQ(read_extent("1024x512x8"), (extent{1024, 512, 8}));
  for (const char* wrong : {"", "1024", "1024x512", "1024x512x", "1024x512x0", "1024x-1x8", "1024x512x8x", "ax1x1", "1x1x1 ", "2000000x1x1"})
    EXPECT_THROW(read_extent(wrong), usage_error) << wrong;
}

TEST(gemm_answer, says_which_how_long_and_why) {
  const gemm_question question{{1024, 1024, 1024}, rtx_a6000(), paper_space()};
  const gemm_answer a = answer(question);
  EXPECT_EQ(a.best.best.tile, (extent{128, 128, 128}));
  EXPECT_TRUE(a.agree);
  EXPECT_EQ(a.waves, 1);
  EXPECT_EQ(a.stages, 8);
  EXPECT_FALSE(a.schedule.empty());
  EXPECT_EQ(a.binds, "DMA startup and latency");
  const std::string words = to_text(question, a);
  for (const char* wanted : {"tile 128x128x128, 1 buffer, 1 producer, 1 consumer", "13.129 us", "64 output tiles in 1 wave",
                             "one more buffer would not fit", "binds        DMA startup and latency",
                             "assumed      DMA startup of 500 ns: the paper's figure is lost"})
    EXPECT_NE(words.find(wanted), std::string::npos) << wanted << "\n" << words;
  if (!has_z3()) { EXPECT_NE(words.find("no Z3 in this build"), std::string::npos); }
}

TEST(gemm_answer, says_when_nothing_fits) {
  gemm_question question{{64, 64, 64}, rtx_a6000(), paper_space()};
  question.on.shared_bytes = 10;
  EXPECT_NE(to_text(question, answer(question)).find("no configuration fits 10 bytes"), std::string::npos);
}

}  // namespace
}  // namespace mgsync::pipeline
