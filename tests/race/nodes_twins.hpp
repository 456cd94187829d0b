// Proxies between nodes with one fault each (barriers/parts/algorithm/across_nodes.hpp): every one must be
// caught, by threads and by Relacy.
#pragma once

#include "barriers/parts/algorithm/across_nodes.hpp"

namespace mgsync::race::nodes {

using algorithm::across_nodes::message;
using algorithm::across_nodes::proxy_place;

struct sound {
  static constexpr const char* name = "sound";
  static constexpr bool carries = true;
  template <class P, class M, class Network>
  struct proxy : algorithm::across_nodes::proxy<P, M, Network> {
    using algorithm::across_nodes::proxy<P, M, Network>::proxy;
  };
};

// Lets its members go ahead of the last step: it has not heard of all nodes.
struct released_early {
  static constexpr const char* name = "released-early";
  static constexpr bool carries = false;
  template <class P, class M, class Network>
  struct proxy : algorithm::across_nodes::proxy<P, M, Network> {
    using base = algorithm::across_nodes::proxy<P, M, Network>;
    using base::base;
    template <class Given, class Carry>
    bool pass(P& p, Network& network, std::uint64_t epoch, Given given, Carry) {
      if (!this->await_members(p, network, epoch)) return false;
      const message known{epoch, given()};
      unsigned step = 0;
      for (unsigned distance = 1; distance < this->at_.nodes; distance *= 2, ++step) {
        network.send((this->at_.node + distance) % this->at_.nodes, step, known);
        if (distance * 2 >= this->at_.nodes) this->let_go(p, epoch);
        if (!this->await_source(network, step, epoch)) return false;
      }
      return true;
    }
  };
};

// What a twin changes in an otherwise sound proxy: the epoch that it says, and the one that it waits for.
template <std::uint64_t (*Said)(std::uint64_t), std::uint64_t (*Awaited)(std::uint64_t)>
struct other_epochs {
  template <class P, class M, class Network>
  struct proxy : algorithm::across_nodes::proxy<P, M, Network> {
    using base = algorithm::across_nodes::proxy<P, M, Network>;
    using base::base;
    template <class Given, class Carry>
    bool pass(P& p, Network& network, std::uint64_t epoch, Given given, Carry) {
      if (!this->await_members(p, network, epoch)) return false;
      unsigned step = 0;
      for (unsigned distance = 1; distance < this->at_.nodes; distance *= 2, ++step) {
        network.send((this->at_.node + distance) % this->at_.nodes, step, {Said(epoch), given()});
        if (!this->await_source(network, step, Awaited(epoch))) return false;
      }
      this->let_go(p, epoch);
      return true;
    }
  };
};

inline std::uint64_t same(std::uint64_t epoch) { return epoch; }
inline std::uint64_t one_before(std::uint64_t epoch) { return epoch - 1; }
inline std::uint64_t even(std::uint64_t epoch) { return epoch & ~std::uint64_t{1}; }

// Takes the epoch of the round before for that of this one.
struct stale_epoch : other_epochs<same, one_before> {
  static constexpr const char* name = "stale-epoch";
  static constexpr bool carries = false;
};
// Two rounds say and await the same epoch in a cell.
struct two_epochs_in_one_cell : other_epochs<even, even> {
  static constexpr const char* name = "two-epochs-in-one-cell";
  static constexpr bool carries = false;
};

// Counts what comes, from whomever: every node tells all others (NCCL's GIN barrier before 2.29.7). Nobody
// leaves before all have come, but the second message of a fast node may stand in for the first one of a slow
// node, and what that one carries is still under way.
struct shared_counter {
  static constexpr const char* name = "shared-counter";
  static constexpr bool carries = true;
  template <class P, class M, class Network>
  struct proxy : algorithm::across_nodes::proxy<P, M, Network> {
    using base = algorithm::across_nodes::proxy<P, M, Network>;
    proxy(const M& memory, const proxy_place& at, std::uint64_t before_first)
        : base(memory, at, before_first), first_(before_first) {}
    template <class Given, class Carry>
    bool pass(P& p, Network& network, std::uint64_t epoch, Given given, Carry carry) {
      if (!this->await_members(p, network, epoch)) return false;
      const message mine{epoch, given()};
      const unsigned others = this->at_.nodes - 1;
      for (unsigned i = 0; i < others; ++i) network.send((this->at_.node + i + 1) % this->at_.nodes, i, mine);
      const bool ok = network.wait_until([&] {
        for (unsigned i = 0; i < others; ++i)
          network.take(i, [&](const message& m) {
            ++count_;
            this->cells_[i].take(m);
          });
        return count_ >= others * (epoch - first_);
      });
      if (!ok) return false;
      auto known = mine.carried;
      for (unsigned i = 0; i < others; ++i)
        if (this->cells_[i].carried[epoch % 2] > known) known = this->cells_[i].carried[epoch % 2];
      carry(known);
      this->let_go(p, epoch);
      return true;
    }

   private:
    std::uint64_t first_, count_ = 0;
  };
};

// Counts the messages of a step in place of looking at their epochs: right until one comes twice.
struct counts_messages {
  static constexpr const char* name = "doubled";
  static constexpr bool carries = false;
  template <class P, class M, class Network>
  struct proxy : algorithm::across_nodes::proxy<P, M, Network> {
    using base = algorithm::across_nodes::proxy<P, M, Network>;
    proxy(const M& memory, const proxy_place& at, std::uint64_t before_first)
        : base(memory, at, before_first), first_(before_first) {}
    template <class Given, class Carry>
    bool pass(P& p, Network& network, std::uint64_t epoch, Given given, Carry) {
      if (!this->await_members(p, network, epoch)) return false;
      unsigned step = 0;
      for (unsigned distance = 1; distance < this->at_.nodes; distance *= 2, ++step) {
        network.send((this->at_.node + distance) % this->at_.nodes, step, {epoch, given()});
        auto& count = counts_[step];
        if (!network.wait_until([&] {
              network.take(step, [&](const message&) { ++count; });
              return count >= epoch - first_;
            }))
          return false;
      }
      this->let_go(p, epoch);
      return true;
    }

   private:
    std::uint64_t first_, counts_[algorithm::across_nodes::max_steps] = {};
  };
};

}  // namespace mgsync::race::nodes
