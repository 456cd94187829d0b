// How a function's steps follow one another: who may come before, loops, and which register's value depends
// on what.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "src/audit/code.hpp"

namespace mgsync::audit {

struct loop {
  std::size_t head = 0;
  std::vector<std::size_t> body;  // in order, the head among them
  bool has(std::size_t at) const;
};

class flow {
 public:
  explicit flow(const function&);

  const function& of() const { return *of_; }
  const step& operator[](std::size_t at) const { return of_->steps[at]; }
  std::size_t size() const { return of_->steps.size(); }
  const std::vector<std::size_t>& before(std::size_t at) const { return before_[at]; }
  bool is_reached(std::size_t at) const { return order_[at] >= 0; }
  // Every way to `at` comes by `first`.
  bool dominates(std::size_t first, std::size_t at) const;

  // Counts work, of which there is so much for each instruction: nobody's kernel takes it all. False: it is
  // used up, and what was found so far is all that will be.
  bool spend(std::size_t steps) const;
  bool is_tired() const { return left_ == 0; }

  // The smallest first. What was not looked at, as a function of which nobody knows the way, is in
  // not_known().
  const std::vector<loop>& loops() const { return loops_; }
  const std::vector<std::string>& not_known() const { return not_known_; }

  // Steps of `within` (all, where it is null) whose result goes into a register, by way of others.
  std::set<std::size_t> sources(int reg, const loop* within) const;
  const std::vector<std::size_t>& writers(int reg) const { return writers_[static_cast<std::size_t>(reg)]; }
  // Registers that hold the same in each turn of the loop: nothing in it writes them, but from such
  // registers.
  std::vector<bool> stable(const loop&) const;
  // Registers that may differ between the threads of a block.
  const std::vector<bool>& of_thread() const { return of_thread_; }
  // The register is 0 wherever it is written.
  bool is_zero(int reg) const { return zero_[static_cast<std::size_t>(reg)]; }

 private:
  void find_order();
  void find_dominators();
  void number_dominators();
  void find_loops();
  void find_values();

  const function* of_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<int> order_;  // by step: its place, from the end of a walk in depth; -1: nobody gets there
  std::vector<std::size_t> by_order_;  // the steps, the first of the function first
  std::vector<std::size_t> dominator_;
  std::vector<std::size_t> begin_,
      end_;  // of a walk through the tree of dominators: when it came to a step, and left it
  mutable std::size_t left_;
  std::vector<loop> loops_;
  std::vector<std::vector<std::size_t>> writers_;  // by register
  std::vector<bool> of_thread_, zero_;
  std::vector<std::string> not_known_;
};

}  // namespace mgsync::audit
