// What the results of barriers mean: heat maps over the shapes (paper 000, figures 5, 7, 8; 001, tables 8 and
// 9), curves over the members (figure 9), idle beside loaded, and what drives the latency. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "src/results/frame/figure.hpp"
#include "src/results/values/result.hpp"

namespace mgsync::barriers {

// How much of the variance of the logarithm of the latency the rows explain by themselves, how much the
// columns, and how much is left (interaction and noise): shares that add up to 1. From an analysis of
// variance with one value per cell.
struct variance_shares {
  double rows = 0;
  double columns = 0;
  double rest = 0;
};
// `values` [row][column], all above 0, at least two rows and two columns and all rows equally long;
// std::invalid_argument otherwise. Nothing where all values are equal.
std::optional<variance_shares> shares_of_variance(const std::vector<std::vector<double>>& values);

// The numbers of rows and columns of the largest rectangle of a map, from its first cell on, in which every
// cell has a value.
struct extent {
  std::size_t rows = 0, columns = 0;
};
extent full_rectangle(const heat_map&);

// The order of shapes: blocks in all first, then blocks per SM; then threads.
using shape_place = std::tuple<bool, double, double>;
shape_place place_of_shape(const point&);
// Words as a figure's name: letters, digits, points and dashes.
std::string word_for_names(std::string words);
// Conditions: not beside a load; NVIDIA's own, on the device.
bool is_idle(const result&);
bool can_be_drawn(const result&);  // its latency, with its interval, is above 0
// Whether it was shown to be a barrier, orders no less than one, and has more than one batch: what is not
// neither wins nor ties.
bool is_compared(const result&);
bool is_vendors(const result&);

// Adds a figure with every level from a warp to several GPUs, launches and host members (001, figures 12 and
// 13): for each maker the fastest barrier that a program can call, and as an outline what is faster but
// cannot be called. Uses results of the studies barriers, launch and levels, as far as there are any.
void add_ladder(std::span<const result>, evaluation&);
// Whether a program can call the result's barrier, and it joins anybody.
bool is_callable(const result&);
// Adds a ranked bar chart of each group and shape that has two barriers or more; where there are over a
// dozen, of the largest groups only, and of the dozen shapes that compare most barriers.
void add_ranked(std::span<const result>, evaluation&);
// "multigrid:library 2.14 us on 4 GPUs, shape 1x32: 1.5x faster than NCCL's nccl-device:hub-relay, ...": the
// fastest of these rows, of one group and shape, that a program can call, beside the fastest of each other
// maker. Empty: none can be called, or there is no other maker's.
std::string headline(const std::vector<const result*>& rows);
// Of this what it says of the others: "1.50x faster than NCCL's nccl-device:hub, ...".
std::string beside_other_makers(const std::vector<const result*>& rows);
// Whether the result's kernel keeps registers in memory, since so many threads leave each too few.
bool keeps_registers_in_memory(const result&);
// " Registers in memory, by multigrid:library-reduce at 32x64: so many threads ...": a sentence for a figure
// of these rows, if any does.
std::string words_on_registers(const std::vector<const result*>&);
// Adds a sentence of what the barriers of other projects are, where any were measured, and which order less.
void add_forms_of_others(std::span<const result>, evaluation&);
// Adds the fastest barrier of each group and shape, and which one to take.
void add_fastest(std::span<const result>, evaluation&);
// " It pays for each block: with as many threads on an SM, 8x256 takes 11.3 us and 32x64 31.1 us, ...": where
// the shapes show it, that a barrier takes longer with more blocks of as many threads in all; `beside`: what
// is named with it there.
std::string price_per_block(const std::vector<const result*>& over_shapes,
                            const std::vector<const result*>& beside);
// Adds a sentence: what a member that comes late costs, where that was measured.
void add_late(std::span<const result>, evaluation&);
// Adds a sentence: what a step that hands over no data may call instead, and what that saves, where it was
// measured.
void add_unordered(std::span<const result>, evaluation&);
// Adds a sentence: what it costs that a barrier also carries something.
void add_carried(std::span<const result>, evaluation&);
// Adds barriers idle and beside each load, where a load was measured.
void add_loads(std::span<const result>, evaluation&);

// The sentences, tables and figures of all results of barriers among these.
evaluation evaluate(std::span<const result>);

}  // namespace mgsync::barriers
