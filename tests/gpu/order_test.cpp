// What no run can show on a GPU: that every flag store to a peer stands behind a fence of system scope, and that the
// last poll stands before the fence that makes it an acquire. Read from what the compiler made, PTX and machine code;
// kernels weakened on purpose must be caught. Needs no GPU and no disassembler.
#include <fstream>
#include <iterator>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/harness/machine_code/cubin.hpp"

namespace {

// How the two texts call things.
struct language {
  const char* file;
  const char* entry;         // how the text of kernel NAME begins; empty: machine code
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

// Machine code as spelled() below says it.
language machine() {
  return {MGSYNC_ORDER_CUBIN, "", std::regex("^fence system"), std::regex("^fence"), std::regex("^store system"),
          std::regex("^load system"), std::regex("^invalidate")};
}

std::string spelled(const mgsync::machine_code::instruction& i) {
  using mgsync::machine_code::scope;
  const auto named = [](scope s) { return s == scope::system ? "system" : s == scope::gpu ? "gpu" : "block"; };
  if (i.fence_scope() != scope::none) return std::string("fence ") + named(i.fence_scope());
  if (i.invalidates_l1()) return "invalidate";
  const auto name = i.name();
  if (i.access_scope() == scope::none || !(name.starts_with("LD") || name.starts_with("ST"))) return std::string(name);
  return std::string(name.starts_with("LD") ? "load " : "store ") + named(i.access_scope());
}

std::vector<std::string> machine_lines_of(const std::string& path, const std::string& kernel) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto image = mgsync::machine_code::read_cubin(std::as_bytes(std::span(bytes)));
  std::vector<std::string> lines;
  if (const auto* f = image.find(kernel); f != nullptr)
    for (const auto& i : f->code) lines.push_back(spelled(i));
  return lines;
}

std::vector<std::string> lines_of(const language& l, const std::string& kernel) {
  if (*l.entry == '\0') return machine_lines_of(l.file, kernel);
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
  language text() const { return GetParam() ? machine() : ptx(); }
};

TEST_P(order, of_the_sound_barrier_is_right) { EXPECT_EQ(what_is_wrong(text(), "sound"), ""); }
TEST_P(order, a_missing_release_is_caught) { EXPECT_NE(what_is_wrong(text(), "no_release"), ""); }
TEST_P(order, a_release_of_too_narrow_a_scope_is_caught) { EXPECT_NE(what_is_wrong(text(), "narrow_release"), ""); }
TEST_P(order, a_missing_acquire_is_caught) { EXPECT_NE(what_is_wrong(text(), "no_acquire"), ""); }

INSTANTIATE_TEST_SUITE_P(texts, order, testing::Bool(), [](const auto& which) { return which.param ? "machine_code" : "ptx"; });

}  // namespace
