// A barrier over nodes that share no memory. In each node the members tell one or more proxies that they have
// come, a word each; every proxy exchanges epochs with the proxies of its number in the other nodes, and lets
// go the members that it serves. One proxy in a node: the leader form. One for each rank of a node: the rail
// form, in which the proxies of one number are a rail, and each asks all members of its node.
// Between nodes: dissemination over ceil(log2 nodes) steps. A message carries the sender's epoch of 64 bits;
// the receiver keeps one cell for each source and step, which only grows, and waits until it is at least the
// round's epoch. A message may be late, doubled, or overtaken by those of other nodes; messages from one node
// to another arrive in their order. A counter that several nodes add to would be wrong: the second message of
// a fast node stands in for the first one of a slow node.
// What is ordered: execution of all members over all nodes. Memory: inside each node as by any barrier (every
// word is stored after a release fence and polled with acquire); between nodes only what the messages carry,
// here one word, of which all nodes get the greatest.
// C++17. A worker's part runs on GPUs too; a proxy is a host thread and never touches a GPU.
#pragma once

#include "barriers/parts/algorithm/local_arrival.hpp"
#include "barriers/parts/algorithm/node_exchange.hpp"

namespace mgsync { inline namespace v1 { namespace algorithm { namespace across_nodes {

// Which line of a member's part holds what: the first two as local_arrival.hpp has them.
struct lines {
  unsigned members;  // of the node

  MGSYNC_HD unsigned let_go() const {
    return 2;
  }  // the epoch that this member may leave; its proxy writes it
  // In the part of a proxy's first member: the epoch that member `from` has come to, which it writes.
  MGSYNC_HD unsigned come(unsigned from) const { return 3 + from; }
  MGSYNC_HD unsigned count() const { return 3 + members; }
};

// The first member that a proxy serves, and in whose part it is told of arrivals. The last + 1 is that of the
// next proxy.
MGSYNC_HD constexpr unsigned first_member_of(unsigned proxy, unsigned proxies, unsigned members) {
  return proxy * members / proxies;
}

// Called by every worker, whose place `at` is that in its node. One team of each member polls the proxy's
// word; the member's other blocks poll a word of their own member.
template <class P, class M>
MGSYNC_HD bool arrive_and_wait(P& p, M& memory, const position& at, unsigned proxies, std::uint32_t epoch) {
  p.sync();
  bool ok = true;
  if (p.in_team()) {
    const lines of{at.members};
    const bool last = arrive_locally(p, memory, at, epoch);
    if (last) {
      p.fence_release_system();
      p.for_each(proxies, [&](unsigned j) {
        p.store_fenced_system(memory.line(first_member_of(j, proxies, at.members), of.come(at.member)),
                              epoch);
      });
      if (p.leader()) ok = p.wait_system(memory.line(at.member, of.let_go()), epoch);
      ok = p.all(ok);
      p.sync_team();  // only the leader acquired the word
    }
    if (ok) ok = release_locally(p, memory, at, epoch, last);
  }
  return p.sync_and(ok);
}

struct proxy_place {
  unsigned node, nodes;
  unsigned proxy, proxies;  // of this node
  unsigned members;         // of this node
};

// One proxy: its members on one side, the other nodes on the other.
template <class P, class M, class Network>
class proxy : protected node_exchange {
 public:
  // `before_first`: the epoch before the first round's, of which the members see the low 32 bits.
  proxy(const M& memory, const proxy_place& at, std::uint64_t before_first)
      : node_exchange(at.node, at.nodes, before_first), memory_(memory), at_(at) {}

  // Takes the node through one round. `given()` is this node's word once all its members have come;
  // `carry(word)` is called with the greatest one of all nodes before a member is let go.
  template <class Given, class Carry>
  bool pass(P& p, Network& network, std::uint64_t epoch, Given given, Carry carry) {
    if (!await_members(p, network, epoch) || !exchange(network, epoch, given, carry)) return false;
    let_go(p, epoch);
    return true;
  }

 protected:  // for the twins of tests/race, which leave one thing out
  bool await_members(P& p, Network& network, std::uint64_t epoch) {
    const lines of{at_.members};
    const unsigned here = first_member_of(at_.proxy, at_.proxies, at_.members);
    for (unsigned m = 0; m < at_.members; ++m) {
      auto& word = memory_.line(here, of.come(m));
      if (!network.wait_until(
              [&] { return reached(p.load_acquire_system(word), static_cast<std::uint32_t>(epoch)); }))
        return false;
    }
    return true;
  }
  void let_go(P& p, std::uint64_t epoch) {
    const unsigned end = first_member_of(at_.proxy + 1, at_.proxies, at_.members);
    p.fence_release_system();
    for (unsigned m = first_member_of(at_.proxy, at_.proxies, at_.members); m < end; ++m)
      p.store_fenced_system(memory_.line(m, lines{at_.members}.let_go()), static_cast<std::uint32_t>(epoch));
  }

  M memory_;
  proxy_place at_;
};

}}}}  // namespace mgsync::v1::algorithm::across_nodes
