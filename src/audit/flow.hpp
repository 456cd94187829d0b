// Control flow and data flow of a function: predecessors, dominators, loops, and what registers' values
// depend on.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "src/audit/code.hpp"

namespace mgsync::audit {

struct loop {
  std::size_t head = 0;
  std::vector<std::size_t> body;  // ascending, including the head
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
  // Whether every path to `at` goes through `first`.
  bool dominates(std::size_t first, std::size_t at) const;

  // Counts work against a budget proportional to the number of instructions, which no ordinary kernel uses
  // up. False: it is used up, and the analysis ends with what it has found.
  bool spend(std::size_t steps) const;
  bool is_tired() const { return left_ == 0; }

  // The loops, smallest first. What could not be analysed is in not_known().
  const std::vector<loop>& loops() const { return loops_; }
  const std::vector<std::string>& not_known() const { return not_known_; }

  // The steps of `within` (nullptr: of the function) whose results the register's value depends on, directly
  // or through other registers.
  std::set<std::size_t> sources(int reg, const loop* within) const { return sources(reg, within, true); }
  // The same without what only forms the address of a load or an atomic operation.
  std::set<std::size_t> values(int reg, const loop* within) const { return sources(reg, within, false); }
  const std::vector<std::size_t>& writers(int reg) const { return writers_[static_cast<std::size_t>(reg)]; }
  // Where the value that this step reads in the register was written; empty: before the function.
  std::set<std::size_t> written_for(std::size_t at, int reg) const;
  // The steps that may read what this step writes to the register.
  std::set<std::size_t> read_from(std::size_t at, int reg) const;
  // For each register, whether it has the same value in each iteration of the loop: it is written there only
  // from such registers, or not at all. What ordinary loads of a stable address read is taken to be stable on
  // demand: it is so where they read pointers and bounds.
  enum class loads : std::uint8_t { change, may_stay };
  std::vector<bool> stable(const loop&, loads = loads::change) const;
  // For each register, whether it may differ between the threads of a block.
  const std::vector<bool>& of_thread() const { return of_thread_; }
  // Whether the register is set to 0 wherever it is written.
  bool is_zero(int reg) const { return zero_[static_cast<std::size_t>(reg)]; }

 private:
  std::set<std::size_t> sources(int reg, const loop* within, bool with_addresses) const;
  std::set<std::size_t> along(std::size_t at, int reg, bool forwards) const;
  void find_order();
  void find_dominators();
  void number_dominators();
  void find_loops();
  void find_values();
  static bool decides(const step&, int reg);
  static std::uint64_t bits_of(const step&, std::uint64_t read);
  std::vector<std::uint64_t> set_bits(const std::vector<std::vector<std::size_t>>& readers) const;
  std::vector<std::uint64_t> differing_bits(const std::vector<std::vector<std::size_t>>& readers,
                                            const std::vector<std::uint64_t>& may_be_set) const;

  const function* of_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<int> order_;             // by step: its position in reverse postorder; -1: unreachable
  std::vector<std::size_t> by_order_;  // the steps in that order
  std::vector<std::size_t> dominator_;
  std::vector<std::size_t> begin_,
      end_;  // by step: when a depth-first walk through the dominator tree enters and leaves it
  mutable std::size_t left_;
  std::vector<loop> loops_;
  std::vector<std::vector<std::size_t>> writers_;  // by register
  std::vector<bool> of_thread_, zero_;
  std::vector<std::string> not_known_;
};

}  // namespace mgsync::audit
