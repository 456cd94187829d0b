#include "src/audit/registers.hpp"

#include <unordered_map>
#include <utility>

namespace mgsync::audit {
namespace {

// Of blocks and registers that are live there: only code made to be large has more.
constexpr std::size_t most_at_begins = 4'000'000;

class separation {
 public:
  explicit separation(function& f) : f_(f), before_(f.steps.size()), block_(f.steps.size()) {
    find_blocks();
    for (std::size_t at = 0; at < f_.steps.size(); ++at) number(at);
    while (!asked_.empty()) {
      if (begins_.size() > most_at_begins) {
        join_all();
        break;
      }
      const auto [block, reg] = asked_.back();
      asked_.pop_back();
      const int held = at_begin(block, reg);
      for (const std::size_t from : before_[first_[block]]) join(held, at_end(block_[from], reg));
    }
    renumber();
  }

 private:
  // Steps of which each follows the one ahead of it alone.
  void find_blocks() {
    for (std::size_t at = 0; at < f_.steps.size(); ++at)
      for (const std::size_t next : f_.steps[at].next) before_[next].push_back(at);
    for (std::size_t at = 0; at < f_.steps.size(); ++at) {
      const bool follows =
          at != 0 && before_[at] == std::vector{at - 1} && f_.steps[at - 1].next == std::vector{at};
      if (!follows) first_.push_back(at);
      block_[at] = first_.size() - 1;
    }
  }

  // Values are numbered as they are met, and joined where they turn out to be one.
  int value() {
    same_.push_back(static_cast<int>(same_.size()));
    return same_.back();
  }
  int same_as(int value) {
    while (same_[at(value)] != value) value = same_[at(value)] = same_[at(same_[at(value)])];
    return value;
  }
  void join(int one, int other) { same_[at(same_as(one))] = same_as(other); }
  static std::size_t at(int value) { return static_cast<std::size_t>(value); }

  std::uint64_t key(std::size_t block, int reg) const {
    return block * static_cast<std::uint64_t>(f_.registers) + at(reg);
  }
  // The value that the register holds at the beginning of a block, which those before it have to tell.
  int at_begin(std::size_t block, int reg) {
    const auto [place, is_new] = begins_.try_emplace(key(block, reg), 0);
    if (is_new) {
      place->second = value();
      asked_.emplace_back(block, reg);
    }
    return place->second;
  }
  int at_end(std::size_t block, int reg) {
    const auto found = ends_.find(key(block, reg));
    return found != ends_.end() ? found->second : at_begin(block, reg);
  }

  // What leaves a block is one value for each register.
  void join_all() {
    std::vector<int> common(at(f_.registers), -1);
    for (const auto* some : {&begins_, &ends_})
      for (const auto& [block_and_register, value] : *some) {
        int& one = common[block_and_register % common.size()];
        if (one < 0) one = value;
        join(value, one);
      }
  }

  void number(std::size_t at) {
    step& s = f_.steps[at];
    const std::size_t block = block_[at];
    for (auto* some : {&s.reads, &s.address, &s.data})
      for (int& r : *some) r = at_end(block, r);
    const bool always = s.condition < 0;
    if (!always) s.condition = at_end(block, s.condition);
    for (int& r : s.writes) {
      const int made = always ? value() : at_end(block, r);
      ends_[key(block, r)] = made;
      r = made;
    }
  }

  void renumber() {
    std::vector<int> numbers(same_.size(), -1);
    int count = 0;
    const auto number = [&](int& value) {
      int& known = numbers[at(same_as(value))];
      if (known < 0) known = count++;
      value = known;
    };
    for (step& s : f_.steps) {
      for (auto* some : {&s.reads, &s.address, &s.data, &s.writes})
        for (int& value : *some) number(value);
      if (s.condition >= 0) number(s.condition);
    }
    f_.registers = count;
  }

  function& f_;
  std::vector<std::vector<std::size_t>> before_;  // of each step
  std::vector<std::size_t> block_, first_;        // of each step its block, of each block its first step
  std::vector<int> same_;                         // by value: one that is the same
  std::unordered_map<std::uint64_t, int> begins_, ends_;  // by block and register; so far while it is read
  std::vector<std::pair<std::size_t, int>> asked_;        // beginnings that are still to be joined
};

}  // namespace

void separate_values(function& f) { separation{f}; }

}  // namespace mgsync::audit
