// The words that one lane polls and writes of a relay among more members than a line has words, as kernels of
// many GPUs have them (barriers/library/many_gpus_policy.hpp), over any policy. `WordsOfLine`: fewer than a
// line of memory has, where a race checker is to see several lines among few members.
#pragma once

#include "barriers/parts/algorithm/relay.hpp"

namespace mgsync::race {

template <unsigned MostMembers, unsigned WordsOfLine>
struct many_relay {
  template <class P, class M>
  class addresses {
    using word = typename P::word;

   public:
    static constexpr unsigned ins = (MostMembers + P::lanes - 1) / P::lanes, sums = 1;

    addresses(const P& p, M& memory, const algorithm::position& at, const algorithm::relay_shape&)
        : p_(p), memory_(memory), at_(at) {}
    bool is(algorithm::relay_way way) const {
      return (algorithm::relay_ways(at_.block, at_.blocks, {}) & static_cast<unsigned>(way)) != 0;
    }
    bool counts() const { return at_.blocks != 1; }
    unsigned blocks() const { return at_.blocks; }
    word* in(unsigned i) const {
      const unsigned from = p_.lane() + i * P::lanes;
      if (i != 0 && from >= at_.members) return nullptr;
      return &word_of(at_.member, from < at_.members ? from : at_.members - 1);
    }
    word& arrival() const { return memory_.word(at_.member, algorithm::relay_layout{}.counter(0), 0); }
    word* sum(unsigned) const { return &arrival(); }
    unsigned share(unsigned) const { return at_.blocks; }
    word& split() const { return memory_.word(at_.member, algorithm::relay_layout{}.split(0), 0); }
    word& split_of_all() const {
      return memory_.word(at_.member, algorithm::relay_layout{}.split_of_all(), 0);
    }
    unsigned split_share() const { return at_.blocks; }
    unsigned splits() const { return 1; }
    template <class F>
    void each_counter(F f) const {
      if (p_.lane() == 0) f(arrival(), at_.blocks);
    }
    const addresses& out() const { return *this; }
    template <class F>
    void each(F f) const {
      for (unsigned to = p_.lane(); to < at_.members; to += P::lanes) f(word_of(to, at_.member));
    }

   private:
    word& word_of(unsigned member, unsigned from) const {
      const algorithm::relay_layout lines{};
      return memory_.word(member, lines.inbox(0) + lines.lines_ahead(from, WordsOfLine), from % WordsOfLine);
    }

    mutable P p_;
    M& memory_;
    algorithm::position at_;
  };

  template <class P, class M>
  using relay = algorithm::relay<P, M, addresses<P, M>>;
};

}  // namespace mgsync::race
