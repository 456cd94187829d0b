// Which lists of grids make a team, and what is said of the others.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "barriers/library/team_ranks.hpp"
#include "src/base/errors.hpp"

namespace mgsync::library { namespace {

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const usage_error& error) { return error.what(); }
  return "nothing thrown";
}

std::string of_team(const std::vector<unsigned>& ranks) {
  return refusal([&] { list_of_team(ranks, 4); });
}
std::string of_list(const std::vector<int>& ranks, int count) {
  return refusal([&] { ranks_in_c(ranks.data(), count, 4); });
}

constexpr const char* each = " here: it takes grids of the group, 0 to 3, each once at most";

TEST(team_ranks, that_make_a_team_are_listed_in_their_order) {
  EXPECT_EQ(list_of_team({0}, 1), "0");
  EXPECT_EQ(list_of_team({2, 0, 3}, 4), "2, 0, 3");
}
TEST(team_ranks, that_make_no_team_are_named) {
  EXPECT_EQ(of_team({}), "a team of no grids");
  EXPECT_EQ(of_team({1, 4}), std::string("no team with grid 4") + each);
  EXPECT_EQ(of_team({1, 2, 1}), std::string("no team with grid 1") + each);
}
TEST(team_ranks, of_c_are_those_of_the_list) {
  const int given[] = {3, 1};
  EXPECT_EQ(ranks_in_c(given, 2, 4), (std::vector<unsigned>{3, 1}));
  EXPECT_EQ(ranks_in_c(given, 1, 4), (std::vector<unsigned>{3}));
}
TEST(team_ranks, of_c_are_not_read_where_their_number_is_wrong) {
  for (const int count : {0, -1, 5, 1 << 30})
    EXPECT_EQ(refusal([&] { ranks_in_c(nullptr, count, 4); }),
              "a team of " + std::to_string(count) + " grids: it takes 1 to 4, those of the group");
  EXPECT_EQ(refusal([] { ranks_in_c(nullptr, 1, 4); }), "grid_ranks is null");
  EXPECT_EQ(of_list({0, -2}, 2), std::string("no team with grid -2") + each);
}
TEST(team_ranks, are_known_by_the_numbers_that_were_returned) {
  EXPECT_EQ(refusal([] { must_be_a_team(1, 1); }), "no team 1 here: make_team() has made none yet");
  EXPECT_EQ(refusal([] { must_be_a_team(0, 1); }), "no team 0 here: make_team() has made none yet");
  for (const unsigned none : {0u, 3u})
    EXPECT_EQ(refusal([&] { must_be_a_team(none, 3); }),
              "no team " + std::to_string(none) + " here: make_team() returned 1 to 2");
  for (const unsigned one : {1u, 2u}) EXPECT_NO_THROW(must_be_a_team(one, 3));
}

}}  // namespace mgsync::library
