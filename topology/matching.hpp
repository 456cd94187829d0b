// Bipartite matching by Kuhn's algorithm: gives each taker a place of its own from its list of wishes. An
// earlier taker is moved to another place of its list only where a later one would otherwise get none.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mgsync::topology {

class matching {
 public:
  // Places, as numbers below `places`, in the order of preference. Takers may share one list, as there may be
  // thousands of both.
  using wish_list = std::shared_ptr<const std::vector<int>>;
  // `wishes`: by taker.
  matching(std::vector<wish_list> wishes, int places)
      : wishes_(std::move(wishes)),
        place_of_(wishes_.size(), -1),
        taker_of_(static_cast<std::size_t>(places), -1) {}
  // Each taker with a list of its own.
  matching(const std::vector<std::vector<int>>& wishes, int places) : matching(lists_of(wishes), places) {}

  // False: no place is possible for this taker, however the others are moved.
  bool place(int taker) {
    std::vector<char> tried(taker_of_.size(), 0);
    return place(taker, tried);
  }
  void give(int taker, int place) {
    place_of_[static_cast<std::size_t>(taker)] = place;
    taker_of_[static_cast<std::size_t>(place)] = taker;
  }
  int operator[](int taker) const { return place_of_[static_cast<std::size_t>(taker)]; }  // -1: none
  int taker_of(int place) const { return taker_of_[static_cast<std::size_t>(place)]; }    // -1: nobody
  const std::vector<int>& places() const { return place_of_; }                            // by taker

 private:
  static std::vector<wish_list> lists_of(const std::vector<std::vector<int>>& wishes) {
    std::vector<wish_list> lists;
    for (const auto& each : wishes) lists.push_back(std::make_shared<const std::vector<int>>(each));
    return lists;
  }
  bool place(int taker, std::vector<char>& tried) {
    const auto& wishes = *wishes_[static_cast<std::size_t>(taker)];
    for (const int p : wishes)
      if (taker_of(p) < 0) return give(taker, p), true;
    for (const int p : wishes)
      if (std::exchange(tried[static_cast<std::size_t>(p)], 1) == 0 && place(taker_of(p), tried))
        return give(taker, p), true;
    return false;
  }

  std::vector<wish_list> wishes_;
  std::vector<int> place_of_, taker_of_;
};

}  // namespace mgsync::topology
