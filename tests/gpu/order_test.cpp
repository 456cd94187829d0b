// What no run can show on a GPU: that every flag store to a peer stands behind a fence of system scope, and that the
// last poll stands before the fence that makes it an acquire. Read from what the compiler made, PTX always and machine
// code where cuobjdump is; kernels weakened on purpose must be caught. Needs no GPU.
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

// How the two texts call things.
struct language {
  const char* file;
  const char* entry;         // how the text of kernel NAME begins
  std::regex system_fence;
  std::regex any_fence;
  std::regex flag_store;     // of system scope
  std::regex poll;           // of system scope
  std::regex acquire;        // after polls
};

language ptx() {
  return {MGSYNC_ORDER_PTX, ".entry ", std::regex(R"(fence\.(acq_rel|release|sc)\.sys)"), std::regex(R"(fence\.)"),
          std::regex(R"(st\.relaxed\.sys)"), std::regex(R"(ld\.relaxed\.sys)"), std::regex(R"(fence\.(acquire|acq_rel)\.sys)")};
}

language sass() {
  return {MGSYNC_ORDER_SASS, "Function : ", std::regex(R"(MEMBAR\.(ALL|SC)\.SYS)"), std::regex(R"(MEMBAR)"),
          std::regex(R"(\bST\w*\.(E\.)?STRONG\.SYS)"), std::regex(R"(\bLD\w*\.(E\.)?STRONG\.SYS)"), std::regex(R"(CCTL\.IVALL)")};
}

std::vector<std::string> lines_of(const language& l, const std::string& kernel) {
  std::ifstream file(l.file);
  std::vector<std::string> lines;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find(l.entry) != std::string::npos) {
      const std::string name = line.substr(line.find(l.entry) + std::string(l.entry).size());
      inside = name.compare(0, kernel.size(), kernel) == 0 && (name.size() == kernel.size() || name[kernel.size()] == '(');
    }
    if (inside) lines.push_back(line);
  }
  return lines;
}

// Empty, or what is wrong. The text is straight enough that "the nearest before" is what runs before.
std::string what_is_wrong(const language& l, const std::string& kernel) {
  const auto lines = lines_of(l, kernel);
  if (lines.empty()) return "no kernel " + kernel + " in " + l.file;
  std::size_t stores = 0, polls = 0;
  bool fenced = false, polled = false;
  for (const auto& line : lines) {
    if (std::regex_search(line, l.any_fence)) fenced = std::regex_search(line, l.system_fence);
    if (std::regex_search(line, l.flag_store)) {
      ++stores;
      if (!fenced) return "a flag store without a system fence before it: " + line;
    }
    if (std::regex_search(line, l.poll)) {
      ++polls;
      polled = true;
    }
    if (std::regex_search(line, l.acquire)) polled = false;
  }
  if (stores == 0) return "no flag store of system scope";
  if (polls == 0) return "no poll of system scope";
  return polled ? "the last poll has no acquire after it" : "";
}

class order : public testing::TestWithParam<bool> {
 protected:
  language text() const { return GetParam() ? sass() : ptx(); }
  void SetUp() override {
    if (GetParam() && std::string(MGSYNC_ORDER_SASS).empty()) GTEST_SKIP() << "no cuobjdump here; the PTX is tested";
  }
};

TEST_P(order, of_the_sound_barrier_is_right) { EXPECT_EQ(what_is_wrong(text(), "sound"), ""); }
TEST_P(order, a_missing_release_is_caught) { EXPECT_NE(what_is_wrong(text(), "no_release"), ""); }
TEST_P(order, a_release_of_too_narrow_a_scope_is_caught) { EXPECT_NE(what_is_wrong(text(), "narrow_release"), ""); }
TEST_P(order, a_missing_acquire_is_caught) { EXPECT_NE(what_is_wrong(text(), "no_acquire"), ""); }

INSTANTIATE_TEST_SUITE_P(texts, order, testing::Bool(), [](const auto& which) { return which.param ? "sass" : "ptx"; });

}  // namespace
