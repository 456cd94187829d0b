// A place that nobody has written yet must not look as if somebody had in the round in which epochs reach 0.
#include <algorithm>

#include <gtest/gtest.h>

#include "barriers/parts/algorithm/flag_image.hpp"

namespace mgsync::algorithm { namespace {

// Of `count` pairs from word `begin` on, how many are not of the epoch before the first.
long of_other_epochs(const flag_image& image, std::size_t begin, unsigned count) {
  long others = 0;
  for (unsigned pair = 0; pair < count; ++pair) others += image.at(begin + 2 * pair) != first_gpu_epoch;
  return others;
}

TEST(flag_image, has_the_epoch_before_the_first_where_blocks_leave_values) {
  for (const unsigned blocks : {1u, 132u, 321u, 4224u}) {
    const carried_values places{blocks};
    flag_image image(7);
    append_carried_values(image, places);
    for (unsigned entry = 0; entry < (places.grouped() ? places.groups() : blocks); ++entry)
      for (const unsigned turn : {0u, 1u})
        for (const unsigned half : {0u, 1u})
          EXPECT_EQ(of_other_epochs(
                        image, 7 + 2 * (places.place(places.top(), entry) + places.behind(turn, half)), 1),
                    0);
    for (unsigned block = 0; places.grouped() && block < blocks; ++block) {
      const unsigned first = places.place(places.of_group(block / places.group), block % places.group);
      EXPECT_EQ(of_other_epochs(image, 7 + 2 * (first + places.behind(1, 1)), 1), 0);
    }
  }
}

TEST(flag_image, has_it_where_members_tell_theirs) {
  const auto inbox = [](unsigned line) { return (line + carried_inbox::lines_ahead) * words_of_line; };
  const auto relay = relay_image(132);
  for (const unsigned replica : {0u, 1u, relay_shape::most_words - 1})
    EXPECT_EQ(of_other_epochs(relay, inbox(relay_layout{}.inbox(replica)), carried_inbox::places), 0);
  const auto spread = spread_image(132, {.counters = 2, .copies = 4});
  for (const unsigned copy : {0u, 3u})
    EXPECT_EQ(of_other_epochs(spread, inbox(spread_layout{}.counter(copy, 0)), carried_inbox::places), 0);
}

// Words of quiet rounds lie behind those of an inbox, in two lines for every line of members.
TEST(flag_image, has_no_word_twice) {
  EXPECT_LT(relay_layout::lines_ahead(relay_shape::most_of_many - 1, words_of_line) + 1,
            carried_inbox::lines_ahead);
  EXPECT_LE(carried_inbox::lines_ahead + carried_inbox::places * sizeof(std::uint64_t) / line_bytes,
            relay_layout::stride);
  EXPECT_LE(carried_values{1}.behind(2, 0), carried_values{1}.spacing);
}

}}  // namespace mgsync::algorithm
