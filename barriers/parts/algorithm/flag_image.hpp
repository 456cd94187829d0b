// What the flags of a new GPU barrier hold: 32-bit words, the same in every member's part. Host code, C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "barriers/parts/algorithm/all_reduce.hpp"
#include "barriers/parts/algorithm/carrier.hpp"
#include "barriers/parts/algorithm/layout.hpp"
#include "barriers/parts/algorithm/relay.hpp"
#include "barriers/parts/algorithm/spread_counter.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm {

using flag_image = std::vector<std::uint32_t>;

inline constexpr std::size_t words_of_line = line_bytes / sizeof(std::uint32_t);

// Of `layout`: every flag holds the first epoch.
inline flag_image layout_image(unsigned members, unsigned blocks) {
  const layout lines{members};
  flag_image image(std::size_t{lines.lines()} * words_of_line, first_gpu_epoch);
  image[std::size_t{lines.arrivals()} * words_of_line] = counter_start(blocks, first_gpu_epoch);
  image[std::size_t{lines.center()} * words_of_line] = counter_start(members, first_gpu_epoch);
  image[std::size_t{lines.crowd()} * words_of_line] = counter_start(members * blocks, first_gpu_epoch);
  return image;
}

inline flag_image reduction_image(unsigned members, unsigned blocks) {
  const reduction_layout lines{members};
  flag_image image(std::size_t{lines.lines()} * words_of_line, 0);
  for (unsigned l = 0; l < lines.lines(); ++l) image[std::size_t{l} * words_of_line] = first_gpu_epoch;
  image[std::size_t{lines.arrivals()} * words_of_line] = counter_start(blocks, first_gpu_epoch);
  image[std::size_t{lines.running_sum()} * words_of_line] = 0;
  image[std::size_t{lines.sum_before()} * words_of_line] = 0;
  return image;
}

inline constexpr std::size_t words_of_pair = sizeof(std::uint64_t) / sizeof(std::uint32_t);

// `count` pairs from word `begin` on, which nobody has written yet.
inline void add_pairs(flag_image& image, std::size_t begin, unsigned count) {
  for (unsigned pair = 0; pair < count; ++pair) image[begin + pair * words_of_pair] = first_gpu_epoch;
}

// The places of what members tell, behind line `line`.
inline void add_carried_inbox(flag_image& image, unsigned line) {
  add_pairs(image, std::size_t{line + carried_inbox::lines_ahead} * words_of_line, carried_inbox::places);
}

inline flag_image relay_image(unsigned blocks, const relay_shape& shape = {}) {
  const relay_layout lines{};
  flag_image image(std::size_t{lines.lines()} * words_of_line, 0);
  for (unsigned k = 0; k < shape.counters; ++k)
    image[std::size_t{lines.counter(k)} * words_of_line] =
        counter_start(share_of(k, blocks, shape.counters), first_gpu_epoch);
  for (unsigned r = 0; r < relay_shape::most_words; ++r)
    for (unsigned from = 0; from < relay_shape::most_of_many; ++from)
      image[std::size_t{lines.inbox(r) + relay_layout::lines_ahead(from, words_of_line)} * words_of_line +
            from % words_of_line] = first_gpu_epoch;
  for (unsigned r = 0; r < relay_shape::most_words; ++r) add_carried_inbox(image, lines.inbox(r));
  return image;
}

inline flag_image spread_image(unsigned blocks, const spread_shape& shape) {
  const spread_layout lines{};
  flag_image image(std::size_t{lines.lines()} * words_of_line, 0);
  for (unsigned copy = 0; copy < shape.copies; ++copy)
    for (unsigned k = 0; k < shape.counters; ++k)
      image[std::size_t{lines.counter(copy, k)} * words_of_line] =
          counter_start(share_of(k, blocks, shape.counters), first_gpu_epoch);
  for (unsigned copy = 0; copy < shape.copies; ++copy) add_carried_inbox(image, lines.counter(copy, 0));
  return image;
}

// Appends the places of a member's own values, behind what `image` has so far.
inline void append_carried_values(flag_image& image, const carried_values& places) {
  const std::size_t begin = image.size(), of_chunk = places.spacing * words_of_pair;
  image.resize(begin + places.all_chunks() * of_chunk, 0);
  for (unsigned chunk = 0; chunk < places.all_chunks(); ++chunk)
    add_pairs(image, begin + chunk * of_chunk, places.behind(2, 0));
}

}}}  // namespace mgsync::v1::algorithm
