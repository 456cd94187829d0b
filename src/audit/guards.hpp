// What the number of a thread must be for it to come to a step.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/audit/flow.hpp"

namespace mgsync::audit {

// If `branch` leads some threads to the step `to`, by their number, and others past it: where it leads these.
std::optional<std::size_t> way_past(const flow&, std::size_t branch, std::size_t to);

struct guard {
  std::size_t at = 0;  // the branch by which threads part, or the step itself, whose predicate it is
  std::set<std::string> conditions;  // of those who come: equal words are equal conditions
};

class guards {
 public:
  explicit guards(const flow&);
  std::vector<guard> of(std::size_t step) const;
  // Whether a branch leads some threads to the one and the others to the other: they have other roles.
  bool are_apart(std::size_t one, std::size_t other) const;

 private:
  guard made(std::size_t at, bool value) const;
  void add(std::set<std::string>&, int predicate, bool value, int most_deep) const;
  std::string operands_of(const step&) const;

  const flow* code_;
  std::vector<std::size_t> branches_;  // that go by the thread's number
};

}  // namespace mgsync::audit
