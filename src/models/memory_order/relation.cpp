#include "src/models/memory_order/relation.hpp"

#include <string>

namespace mgsync::memory_order {

void relation::add(std::size_t from, std::size_t to, const z3::expr& when) {
  auto& pair = pairs_[from * size_ + to];
  pair = pair ? *pair || when : when;
}

void relation::for_each(const std::function<void(std::size_t, std::size_t, const z3::expr&)>& visit) const {
  for (std::size_t from = 0; from < size_; ++from) {
    for (std::size_t to = 0; to < size_; ++to) {
      if (const auto& when = at(from, to)) visit(from, to, *when);
    }
  }
}

relation relation::operator&(const relation& other) const {
  relation both(*context_, size_);
  for_each([&](std::size_t from, std::size_t to, const z3::expr& when) {
    if (const auto& also = other.at(from, to)) both.add(from, to, when && *also);
  });
  return both;
}

relation relation::operator|(const relation& other) const {
  relation either = *this;
  other.for_each([&](std::size_t from, std::size_t to, const z3::expr& when) { either.add(from, to, when); });
  return either;
}

relation relation::where(const std::function<bool(std::size_t, std::size_t)>& kept) const {
  relation some(*context_, size_);
  for_each([&](std::size_t from, std::size_t to, const z3::expr& when) {
    if (kept(from, to)) some.add(from, to, when);
  });
  return some;
}

relation relation::inverse() const {
  relation turned(*context_, size_);
  for_each([&](std::size_t from, std::size_t to, const z3::expr& when) { turned.add(to, from, when); });
  return turned;
}

relation relation::optional() const {
  relation wider = *this;
  for (std::size_t i = 0; i < size_; ++i) wider.pairs_[i * size_ + i] = context_->bool_val(true);
  return wider;
}

std::vector<std::vector<std::size_t>> relation::successors() const {
  std::vector<std::vector<std::size_t>> next(size_);
  for_each([&](std::size_t from, std::size_t to, const z3::expr&) { next[from].push_back(to); });
  return next;
}

relation relation::then(const relation& next) const {
  relation chained(*context_, size_);
  const auto after = next.successors();
  for_each([&](std::size_t from, std::size_t by, const z3::expr& first) {
    for (const std::size_t to : after[by]) {
      const z3::expr& second = *next.at(by, to);
      if (first.is_true()) chained.add(from, to, second);
      else if (second.is_true()) chained.add(from, to, first);
      else chained.add(from, to, first && second);
    }
  });
  return chained;
}

relation relation::then_named(const relation& next, z3::solver& solver, const char* name) const {
  relation chained(*context_, size_);
  then(next).for_each([&](std::size_t from, std::size_t to, const z3::expr& when) {
    if (when.is_true()) return chained.add(from, to, when);
    const z3::expr named =
        context_->bool_const((name + std::to_string(from) + "_" + std::to_string(to)).c_str());
    solver.add(z3::implies(when, named));
    chained.add(from, to, named);
  });
  return chained;
}

relation relation::closed(z3::solver& solver, const char* name) const {
  // Pairs that chains relate in every execution, and pairs that chains can relate in some execution.
  const auto chains = [&](const auto& related) {
    std::vector<bool> reached(size_ * size_);
    for_each([&](std::size_t from, std::size_t to, const z3::expr& when) {
      reached[from * size_ + to] = related(when);
    });
    for (std::size_t by = 0; by < size_; ++by) {
      for (std::size_t from = 0; from < size_; ++from) {
        if (!reached[from * size_ + by]) continue;
        for (std::size_t to = 0; to < size_; ++to) {
          if (reached[by * size_ + to]) reached[from * size_ + to] = true;
        }
      }
    }
    return reached;
  };
  const auto always = chains([](const z3::expr& when) { return when.is_true(); });
  const auto reachable = chains([](const z3::expr&) { return true; });
  relation all(*context_, size_);
  for (std::size_t from = 0; from < size_; ++from) {
    for (std::size_t to = 0; to < size_; ++to) {
      if (!reachable[from * size_ + to]) continue;
      const std::string pair = name + std::to_string(from) + "_" + std::to_string(to);
      all.add(from, to,
              always[from * size_ + to] ? context_->bool_val(true) : context_->bool_const(pair.c_str()));
    }
  }
  const auto after = successors();
  for_each([&](std::size_t from, std::size_t to, const z3::expr& when) {
    if (!always[from * size_ + to]) solver.add(z3::implies(when, *all.at(from, to)));
  });
  all.for_each([&](std::size_t from, std::size_t by, const z3::expr& first) {
    for (const std::size_t to : after[by]) {
      if (!always[from * size_ + to]) solver.add(z3::implies(first && *at(by, to), *all.at(from, to)));
    }
  });
  return all;
}

}  // namespace mgsync::memory_order
