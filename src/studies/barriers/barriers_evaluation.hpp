// What the results of barriers mean: heat maps over the shapes (paper 000, figures 5, 7, 8; 001, tables 8 and
// 9), curves over the members (figure 9), idle beside loaded, and what drives the latency. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "src/results/figure.hpp"
#include "src/results/result.hpp"

namespace mgsync::barriers {

// How much of the variance of log latency the rows explain by themselves, how much the columns, and what is
// left (the two together, and noise): shares that add up to 1. By analysis of variance with one value in each
// cell.
struct variance_shares {
  double rows = 0;
  double columns = 0;
  double rest = 0;
};
// `values` [row][column], all above 0, a full rectangle of at least two rows and two columns;
// std::invalid_argument otherwise. Nothing where all values are equal.
std::optional<variance_shares> shares_of_variance(const std::vector<std::vector<double>>& values);

// The largest full rectangle of a map from its first cell on, as its numbers of rows and columns: those that
// fit the GPU.
struct extent {
  std::size_t rows = 0, columns = 0;
};
extent full_rectangle(const heat_map&);

// Every level from a warp to several GPUs, launches and host members in one picture (001, figures 12 and 13):
// what a program can call, of each maker the fastest, and pale what is faster and cannot be called. Of
// studies barriers, launch and levels, as far as they are there.
void add_ladder(std::span<const result>, evaluation&);
// Barriers idle and beside each load, where a load was measured.
void add_loads(std::span<const result>, evaluation&);

// Sentences, tables and figures of all results of barriers among these.
evaluation evaluate(std::span<const result>);

}  // namespace mgsync::barriers
