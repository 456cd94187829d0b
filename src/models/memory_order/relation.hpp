// Relations between the events of a program: a Z3 proposition for each pair, of which most are known to be
// false.
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
  // The proposition for a pair; nothing where the two are known to be unrelated.
  const std::optional<z3::expr>& at(std::size_t from, std::size_t to) const {
    return pairs_[from * size_ + to];
  }
  bool possible(std::size_t from, std::size_t to) const { return at(from, to).has_value(); }
  // Adds an alternative (logical or) to the proposition for a pair.
  void add(std::size_t from, std::size_t to, const z3::expr& when);

  // The intersection, the union, and the pairs for which `kept` holds.
  relation operator&(const relation&) const;
  relation operator|(const relation&) const;
  relation where(const std::function<bool(std::size_t from, std::size_t to)>& kept) const;
  relation inverse() const;

  // The composition: a to c where this relates a to some b, and `then` relates b to c.
  relation then(const relation& next) const;
  // The same with names for the pairs, bound by the solver, so that expressions do not grow: what must hold
  // is implied, so the result may hold more. Right wherever the axioms only forbid pairs.
  relation then_named(const relation& next, z3::solver&, const char* name) const;
  // The transitive closure, named in the same way.
  relation closed(z3::solver&, const char* name) const;
  // The reflexive closure.
  relation optional() const;

  void for_each(const std::function<void(std::size_t from, std::size_t to, const z3::expr& when)>&) const;

 private:
  std::vector<std::vector<std::size_t>> successors() const;

  z3::context* context_;
  std::size_t size_;
  std::vector<std::optional<z3::expr>> pairs_;
};

}  // namespace mgsync::memory_order
