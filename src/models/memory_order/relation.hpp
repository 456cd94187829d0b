// Relations between the events of a program, each pair a proposition of Z3; most pairs are known to be
// unrelated.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <z3++.h>

namespace mgsync::memory_order {

class relation {
 public:
  relation(z3::context& context, std::size_t events)
      : context_(&context), size_(events), pairs_(events * events) {}

  std::size_t size() const { return size_; }
  // Nothing where the two are known to be unrelated.
  const std::optional<z3::expr>& at(std::size_t from, std::size_t to) const {
    return pairs_[from * size_ + to];
  }
  bool possible(std::size_t from, std::size_t to) const { return at(from, to).has_value(); }
  // Besides what relates the two already.
  void add(std::size_t from, std::size_t to, const z3::expr& when);

  // Pairs of both; of either; of those for which `kept` holds.
  relation operator&(const relation&) const;
  relation operator|(const relation&) const;
  relation where(const std::function<bool(std::size_t from, std::size_t to)>& kept) const;
  relation inverse() const;

  // From a to c where this relates a to some b, and `then` relates b to c.
  relation then(const relation& next) const;
  // The same with names for the pairs, bound by the solver, so that expressions do not grow: what must hold
  // is implied, so the result may hold more. Right wherever the axioms only forbid pairs.
  relation then_named(const relation& next, z3::solver&, const char* name) const;
  // This and all that follows from chains of it, named in the same way.
  relation closed(z3::solver&, const char* name) const;
  // This, or equality.
  relation optional() const;

  void for_each(const std::function<void(std::size_t from, std::size_t to, const z3::expr& when)>&) const;

 private:
  std::vector<std::vector<std::size_t>> successors() const;

  z3::context* context_;
  std::size_t size_;
  std::vector<std::optional<z3::expr>> pairs_;
};

}  // namespace mgsync::memory_order
