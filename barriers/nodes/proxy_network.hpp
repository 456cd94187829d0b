// What takes a proxy's messages to the other nodes: MPI, called by the thread that started it, so that the
// lowest thread level is enough. Receives are posted ahead, sends do not wait, and every wait is bounded: who
// gives up tells the other nodes so, and asks who else is there; a node that does not answer is named.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barriers/nodes/preposted.hpp"
#include "barriers/parts/algorithm/across_nodes.hpp"
#include "barriers/parts/algorithm/host_policy.hpp"
#include "src/base/communicator.hpp"

namespace mgsync::nodes {

// A worker has left a round (phases as docs/method.md has them); a member of the group stands for it.
struct leave {
  std::uint32_t round = 0;
  std::uint32_t member = 0;
};

class proxy_network {
 public:
  using message = algorithm::across_nodes::message;

  // One rank for each node, whose number in `rail` is that of its node. Collective over it.
  explicit proxy_network(communicator rail);
  ~proxy_network();  // collective, unless an exception is in flight
  proxy_network(const proxy_network&) = delete;
  proxy_network& operator=(const proxy_network&) = delete;

  unsigned node() const { return static_cast<unsigned>(rail_.rank()); }
  unsigned nodes() const { return static_cast<unsigned>(rail_.size()); }

  // Before a run. `aside` is called now and then while a wait lasts: at each poll of a checked run.
  void begin(const algorithm::host_limits& limits, bool checked, std::function<void()> aside);

  void send(unsigned node, unsigned step, const message& m) {
    epochs_.start(m, static_cast<int>(node), tag_of(step), comm_);
    ++sent_[node];
  }
  template <class F>
  void take(unsigned step, F f) {
    steps_[step]->take(f);
  }
  template <class Condition>
  bool wait_until(Condition holds) {
    return waits_.wait_until([&] {
      if (holds()) return true;
      if (++polls_ % polls_per_look_ == 0) look_around();
      return ended_;
    }) && !ended_;
  }

  void tell(unsigned node, const leave& one) {
    leaves_.start(one, static_cast<int>(node), leave_tag, comm_);
    ++sent_[node];
  }
  template <class F>
  void take_leaves(F f) {
    heard_leaves_->take(f);
  }

  // After a wait was given up: all nodes' workers give up too. Returns the nodes that do not answer within a
  // second and a half, though not where the command is asked to end.
  std::vector<unsigned> call_the_roll();

 private:
  struct ending {
    std::uint32_t run = 0, node = 0, why = 0;
  };
  static constexpr int leave_tag = 1, ending_tag = 2, first_step_tag = 3;
  static int tag_of(unsigned step) { return first_step_tag + static_cast<int>(step); }
  void look_around();
  void hear_endings();
  void drain();

  communicator rail_;
  MPI_Comm comm_;
  algorithm::host_limits limits_;
  algorithm::host_policy waits_;
  std::function<void()> aside_;
  unsigned polls_ = 0, polls_per_look_ = 1;
  std::vector<std::unique_ptr<preposted<message>>> steps_;
  std::unique_ptr<preposted<leave>> heard_leaves_;
  std::unique_ptr<preposted<ending>> heard_endings_;
  sends<message> epochs_;
  sends<leave> leaves_;
  sends<ending> endings_;
  std::vector<std::uint64_t> sent_;  // to each node, of all kinds
  std::uint32_t run_ = 0;
  std::vector<char> answered_;  // by node: it has given up this run too
  bool ended_ = false;          // another node has given up
};

}  // namespace mgsync::nodes
