// Walks through a function's code, forwards or backwards, up to the fences that order what is walked from.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "src/audit/flow.hpp"

namespace mgsync::audit {

enum class order_half { release, acquire };

struct walk {
  std::set<std::size_t> fences;  // of sufficient scope, which ended a way
  std::set<std::size_t> narrow;  // fences that reach less, which did not
  std::set<std::size_t> ends;    // where a way was stopped
  bool came_to_its_beginning = false;
};

// What predicates hold on a way, as far as constants were put into them: a branch that goes by such a one
// goes one way only.
class constants {
 public:
  constants() = default;
  // What holds whenever the way comes to this step: what was put there by steps that alone lead to it.
  constants(const flow&, std::size_t at);

  void pass(const step&);
  std::vector<std::size_t> next(const step&) const;
  // Whether all of this holds there, too: who goes on from there with less known goes all ways that it goes.
  bool is_in(const constants& other) const;

 private:
  std::map<int, bool> known_;  // by register
};

// Walks from `first` along the steps that `onward` returns. Each way ends at a fence of that half and of at
// least that reach, or where `stops` is true.
walk walk_along(const flow&, std::vector<std::size_t> first,
                const std::function<std::vector<std::size_t>(std::size_t)>& onward, order_half, reach,
                const std::function<bool(std::size_t)>& stops);

}  // namespace mgsync::audit
