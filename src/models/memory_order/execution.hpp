// An execution that a solver looks for: for each event whether it takes place and which value it has, and the
// relations between events that an execution consists of.
#pragma once

#include <functional>
#include <map>

#include <fmt/format.h>
#include <z3++.h>

#include "src/models/memory_order/event_facts.hpp"
#include "src/models/memory_order/relation.hpp"

namespace mgsync::memory_order {

class execution : public event_facts {
 public:
  // Everything that follows from the program is asserted; no axiom of the model is.
  explicit execution(const program&);

  z3::context& context() { return context_; }
  z3::solver& solver() { return solver_; }
  z3::expr number(std::int64_t value) { return context_.int_val(value); }
  z3::expr named(const char* what, std::size_t e) {
    return context_.int_const(fmt::format("{}{}", what, e).c_str());
  }
  const z3::expr& value_of(std::size_t e) const { return values_[e]; }
  const z3::expr& takes_place(std::size_t e) const { return takes_place_[e]; }

  relation none() { return {context_, size()}; }
  // All such pairs of events that both take place.
  relation pairs(const std::function<bool(std::size_t, std::size_t)>& related);

  const relation& program_order() const { return po_; }
  // Some pairs of the program order, whose transitive closure it is.
  relation program_steps() const;
  const relation& strong_pairs() const { return strong_pairs_; }  // morally strong
  const relation& reads_from() const { return rf_; }              // from a write to a read
  const relation& coherence() const { return co_; }
  const relation& from_read() const { return fr_; }  // from a read to a write that comes after what it read
  const relation& fence_order() const { return fence_order_; }

 private:
  z3::expr named_bool(const char* what, std::size_t a, std::size_t b) {
    return context_.bool_const(fmt::format("{}{}_{}", what, a, b).c_str());
  }
  void name_values(std::size_t e);
  z3::expr all_hold(const std::vector<guard>&);
  z3::expr both_take_place(std::size_t a, std::size_t b) const;
  void relate_reads_from();
  void relate_coherence();
  void relate_fence_order();

  z3::context context_;
  z3::solver solver_;
  std::vector<z3::expr> values_, takes_place_;
  // What has the same guards takes place together.
  std::map<std::vector<guard>, z3::expr> guarded_;
  relation po_, strong_pairs_, rf_, co_, fr_, fence_order_;
};

}  // namespace mgsync::memory_order
