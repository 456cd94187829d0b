// What the tests of mgsync audit share: the code that tests/audit/barriers.cu was compiled to, and what is
// found in a kernel of it.
#pragma once

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "src/audit/file.hpp"

namespace mgsync::test {

using audit::severity;
using words = std::multiset<std::string>;

inline std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
inline const std::string& ptx() {
  static const std::string text = content(MGSYNC_AUDIT_CODE "/barriers_90.ptx");
  return text;
}
inline const std::string& cubin() {
  static const std::string bytes = content(MGSYNC_AUDIT_CODE "/barriers_90.cubin");
  return bytes;
}

inline audit::report report_of(const std::vector<audit::named_bytes>& files, const std::string& kernel,
                               bool across = false) {
  const auto all = audit::audit_bytes(files, {.across_gpus = across});
  const auto& last = all.parts.back();
  for (std::size_t i = 0; i < last.functions.size(); ++i)
    if (last.functions[i].name == kernel) return last.reports[i];
  ADD_FAILURE() << "no kernel " << kernel;
  return {};
}
// "fault release", each as often as it was found.
inline words found_in(const audit::report& r) {
  words found;
  for (const auto& one : r.findings)
    found.insert((one.how == severity::fault ? "fault " : "doubt ") + std::string(one.broken->name));
  return found;
}
inline words found(const std::string& bytes, const std::string& kernel, bool across = false) {
  return found_in(report_of({{"code", bytes}}, kernel, across));
}
// The text with every line of the kernel that has this word in it left out, or put in its place.
inline std::string changed(std::string text, const std::string& kernel, const std::string& word,
                           const std::string& other = "") {
  const auto begin = text.find(".entry " + kernel + "(");
  EXPECT_NE(begin, std::string::npos) << kernel;
  bool any = false;
  for (auto at = text.find(word, begin); at < text.find(".entry ", begin + 1);
       at = text.find(word, at + other.size())) {
    any = true;
    if (other.empty()) text.erase(at, text.find('\n', at) - at);
    else text.replace(at, word.size(), other);
  }
  EXPECT_TRUE(any) << word << " in " << kernel;
  return text;
}

}  // namespace mgsync::test
