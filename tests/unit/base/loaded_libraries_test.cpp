#include "src/base/loaded_libraries.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mgsync { namespace {

TEST(loaded_libraries, are_found_by_their_names) {
  const auto found = loaded_components("libc.");
  EXPECT_EQ(found, std::vector<std::string>{"so.6"});
  EXPECT_TRUE(loaded_components("libnothing_of_the_kind").empty());
  const auto all = loaded_components("lib");
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_NE(std::ranges::find(all, "fmt"), all.end());
}

TEST(openmp_runtime, is_named_by_its_file) {
  // This program has none of its own; linked with one, its name begins so.
  const auto name = openmp_runtime();
  EXPECT_TRUE(name.starts_with("lib") || name == "a part of this program" || name == "none") << name;
}

}}  // namespace mgsync
