// The reader of machine code against the vendor's disassembler, over all probes: the same functions, the same
// words, and of each instruction the same name, guard and registers. Skipped where there is no cuobjdump.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <regex>

#include <gtest/gtest.h>

#include "src/probes/machine_code/opcodes.hpp"
#include "tests/code/code_files.hpp"

namespace mgsync { namespace {

using machine_code::instruction;
using machine_code::register_name;

struct line {
  instruction words;
  std::string guard;  // "", "P0", "!UP1"
  std::string text;   // "FADD R0, R5, R0"
};

std::map<std::string, std::vector<line>> disassembled(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen(("'" MGSYNC_CUOBJDUMP "' -sass '" + path + "' 2>&1").c_str(), "r"), pclose);
  static const std::regex function(R"(Function : (\S+))");
  static const std::regex first(
      R"(/\*[0-9a-f]{4,}\*/\s+\{?\s*(?:@(!?U?P\w+)\s+)?([A-Z][^;/]*?)\s*;?\s*\}?\s*/\* 0x([0-9a-f]{16}) \*/)");
  static const std::regex second(R"(^\s*/\* 0x([0-9a-f]{16}) \*/)");
  std::map<std::string, std::vector<line>> found;
  std::vector<line>* now = nullptr;
  std::array<char, 1024> buffer{};
  std::smatch m;
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    const std::string text = buffer.data();
    if (std::regex_search(text, m, function)) now = &found[m[1]];
    else if (now != nullptr && std::regex_search(text, m, first))
      now->push_back({{std::stoull(m[3], nullptr, 16), 0}, m[1], m[2]});
    else if (now != nullptr && !now->empty() && std::regex_search(text, m, second))
      now->back().words.high = std::stoull(m[1], nullptr, 16);
  }
  return found;
}

std::string guard_of(const instruction& i) {
  if (i.guard() == machine_code::true_predicate) return i.guard_negated() ? "!PT" : "";
  return (i.guard_negated() ? "!P" : "P") + std::to_string(i.guard());
}

std::string spelled(const register_name& r) {
  const char* prefix = r.where == register_name::file::general   ? "R"
                       : r.where == register_name::file::uniform ? "UR"
                                                                 : "P";
  return prefix + std::to_string(r.number);
}

// Empty, or how the two differ.
std::string difference(const instruction& ours, const line& theirs) {
  if (ours.low != theirs.words.low || ours.high != theirs.words.high) return "other words";
  const std::string name = theirs.text.substr(0, theirs.text.find_first_of(" ."));
  if (ours.name() != name) return "the name is " + name + ", not '" + std::string(ours.name()) + "'";
  // Of uniform instructions the guard is a uniform predicate.
  std::string guard = theirs.guard;
  guard.erase(std::remove(guard.begin(), guard.end(), 'U'), guard.end());
  if (guard != guard_of(ours)) return "the guard is " + theirs.guard;
  const auto what = machine_code::operands_of(ours);
  const auto stands = [&](const register_name& r) {
    return std::regex_search(theirs.text, std::regex("\\b" + spelled(r) + "\\b"));
  };
  // The guard stands before the text; of pairs the text names the first. Predicates of uniform instructions
  // are named so.
  for (const auto& list : {what.reads, what.writes})
    for (const auto& r : list) {
      if (r.where == register_name::file::predicate) continue;
      const register_name before{r.where, r.number - 1};
      if (!stands(r) && !(r.number > 0 && stands(before)) &&
          !(r.number > 2 && stands({r.where, r.number - 3})) &&
          !(r.number > 1 && stands({r.where, r.number - 2})))
        return "no " + spelled(r) + " in it";
    }
  return "";
}

class disassembly : public testing::TestWithParam<code_file> {};

TEST_P(disassembly, has_no_difference_to_the_vendors) {
  if (std::string(MGSYNC_CUOBJDUMP).empty()) GTEST_SKIP() << "no cuobjdump here: nothing to compare with";
  const auto image = read_code(GetParam().path);
  const auto theirs = disassembled(GetParam().path);
  ASSERT_EQ(theirs.size(), image.functions.size());
  std::size_t compared = 0, differences = 0;
  for (const auto& f : image.functions) {
    const auto found = theirs.find(f.name);
    ASSERT_NE(found, theirs.end()) << f.name;
    ASSERT_EQ(found->second.size(), f.code.size()) << f.name;
    for (std::size_t i = 0; i < f.code.size(); ++i, ++compared) {
      const auto d = difference(f.code[i], found->second[i]);
      if (!d.empty() && ++differences <= 20)
        ADD_FAILURE() << f.name << "+" << std::hex << i * 16 << " " << found->second[i].text << ": " << d;
    }
  }
  EXPECT_EQ(differences, 0u);
  std::printf("%s: %zu instructions of %zu kernels, %zu differences\n", GetParam().path.c_str(), compared,
              image.functions.size(), differences);
}

INSTANTIATE_TEST_SUITE_P(machine_code, disassembly,
                         testing::ValuesIn(files_known_in_full(MGSYNC_PROBE_CUBINS)), test_name);

}}  // namespace mgsync
