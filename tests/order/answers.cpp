#include "tests/order/answers.hpp"

#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace mgsync::test {

namespace {

using memory_order::verdict;

std::string question_of(const word_pair& p) {
  const auto position = [](const ptx::position& one) {
    return fmt::format("GPU {} block {} thread {}", one.gpu, one.block, one.thread);
  };
  return fmt::format("what {} writes, read by {}", position(p.writer), position(p.reader));
}

}  // namespace

std::string text_of(const std::string& source, int architecture, const std::string& kernel) {
  std::ifstream file(fmt::format("{}/{}_{}.ptx", MGSYNC_ORDER_TEXTS, source, architecture));
  std::stringstream read;
  read << file.rdbuf();
  std::string text = read.str();
  if (kernel.empty()) return text;
  const std::string entry = ".visible .entry ";
  const std::size_t begin = text.find(entry + kernel + "(");
  EXPECT_NE(begin, std::string::npos) << source << " has no kernel " << kernel;
  return text.substr(begin, text.find(entry, begin + 1) - begin);
}

std::string weakened(const std::string& text, const std::string& pattern, const std::string& instead) {
  std::string changed =
      std::regex_replace(text, std::regex(pattern), instead, std::regex_constants::match_any);
  EXPECT_NE(changed, text) << "nothing was weakened by " << pattern;
  return changed;
}

void expect_passed(const std::string& text, const std::string& kernel, const grids& shape) {
  const auto kernels = ptx::read_kernels(text);
  memory_order::program passed = completeness_of(ptx::kernel_named(kernels, kernel), shape);
  EXPECT_EQ(memory_order::check(passed, limit).verdict, verdict::forbidden)
      << kernel << ": a read gets what no way was recorded for";
  passed.question = {};
  EXPECT_EQ(memory_order::check(passed, limit).verdict, verdict::allowed)
      << kernel << ": nobody comes to its end";
}

void expect_sound(const std::string& text, const std::string& kernel, const grids& shape, std::size_t every,
                  const kept& as_well) {
  expect_passed(text, kernel, shape);
  const auto kernels = ptx::read_kernels(text);
  const ptx::kernel& code = ptx::kernel_named(kernels, kernel);
  const auto pairs = all_pairs(shape);
  for (std::size_t i = 0; i < pairs.size(); i += every) {
    const auto found = memory_order::check(asked_of(code, shape, pairs[i], as_well), limit);
    EXPECT_EQ(found.verdict, verdict::forbidden) << kernel << ": " << question_of(pairs[i]) << '\n'
                                                 << fmt::format("{}", fmt::join(found.story, "\n"));
  }
}

std::string story_behind(int round, const std::string& text, const std::string& kernel, const grids& shape,
                         const word_pair& asked) {
  const auto kernels = ptx::read_kernels(text);
  const auto found =
      memory_order::check(asked_of(ptx::kernel_named(kernels, kernel), shape, asked, {}, round), limit);
  EXPECT_NE(found.verdict, verdict::unknown) << kernel << ": " << question_of(asked);
  if (found.verdict != verdict::allowed) return {};
  const std::string story = fmt::format("{}\n{}\n", question_of(asked), fmt::join(found.story, "\n"));
  EXPECT_NE(story.find("[payload of "), std::string::npos) << story;
  return story;
}

std::string story_of_stale_read(const std::string& text, const std::string& kernel, const grids& shape) {
  for (const word_pair& asked : all_pairs(shape))
    if (std::string story = story_behind(0, text, kernel, shape, asked); !story.empty()) return story;
  return {};
}

void print(const ladder_row& row, const grids& at, const cpu_time& spent) {
  std::cout << fmt::format("row:{},{},{},{},{},{},{},{},{},{},{},{:.1f}", row.form, row.architecture,
                           row.twin, row.rung, at.gpus, at.blocks, at.threads, row.events, row.questions,
                           row.answered, row.answer, spent.seconds())
            << std::endl;
}

void climb(const std::string& text, const std::string& kernel, const std::string& rung, const grids& shape) {
  const cpu_time spent;
  const auto kernels = ptx::read_kernels(text);
  const ptx::kernel& code = ptx::kernel_named(kernels, kernel);
  memory_order::program passed = completeness_of(code, shape);
  const auto events = passed.events.size();
  const auto pairs = all_pairs(shape);
  std::size_t questions = pairs.size() + 2, answered = 0, wrong = 0;
  const auto ask = [&](const memory_order::program& question, verdict right, const std::string& of) {
    if (spent.seconds() > rung_limit) return;
    const auto found = memory_order::check(question, limit);
    answered += found.verdict == verdict::unknown ? 0 : 1;
    wrong += found.verdict == verdict::unknown || found.verdict == right ? 0 : 1;
    EXPECT_TRUE(found.verdict == right || found.verdict == verdict::unknown)
        << kernel << ": " << of << '\n'
        << fmt::format("{}", fmt::join(found.story, "\n"));
  };
  ask(passed, verdict::forbidden, "a read gets what no way was recorded for");
  passed.question = {};
  ask(passed, verdict::allowed, "all come to their end");
  for (const auto& pair : pairs)
    if (spent.seconds() <= rung_limit)
      ask(asked_of(code, shape, pair, {}), verdict::forbidden, question_of(pair));
  print({.form = kernel,
         .twin = {},
         .rung = rung,
         .events = fmt::to_string(events),
         .questions = fmt::to_string(questions),
         .answered = fmt::to_string(answered),
         .answer = wrong != 0              ? "stale"
                   : answered == questions ? "never stale"
                                           : "not answered to the end"},
        shape, spent);
}

}  // namespace mgsync::test
