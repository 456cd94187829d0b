#include "src/base/hosts.hpp"

#include <gtest/gtest.h>

namespace mgsync { namespace {

using list = std::vector<std::string>;

TEST(hosts, of_one_name_are_told_apart_by_their_boot) {
  EXPECT_EQ(distinct_hosts(list{"a", "a", "b", "b"}, list{"1", "1", "2", "2"}), (list{"a", "a", "b", "b"}));
  EXPECT_EQ(distinct_hosts(list{"n", "n", "n", "n"}, list{"1", "2", "1", "3"}),
            (list{"n", "n-2", "n", "n-3"}));
  EXPECT_EQ(distinct_hosts(list{"n", "n-2", "n"}, list{"1", "1", "2"}), (list{"n", "n-2", "n-3"}))
      << "that name is taken";
  EXPECT_EQ(distinct_hosts(list{"n", "n"}, list{"", ""}), (list{"n", "n"})) << "nothing tells";
}

TEST(hosts, a_pseudonym_tells_names_apart_and_stands_for_itself) {
  EXPECT_EQ(pseudonym_of("abc"), "host-ba7816bf8f");  // the first ten digits of FIPS 180-4's example
  EXPECT_NE(pseudonym_of("abc"), pseudonym_of("abd"));
  EXPECT_EQ(pseudonym_of(pseudonym_of("abc")), pseudonym_of("abc"));
  EXPECT_EQ(pseudonym_of(pseudonym_of("abc") + "-2"), pseudonym_of("abc") + "-2")
      << "the second host of one name";
  EXPECT_EQ(pseudonym_of(""), "");
}

TEST(hosts, this_one_has_one_boot) { EXPECT_EQ(boot_id(), boot_id()); }

}}  // namespace mgsync
