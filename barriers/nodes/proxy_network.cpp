#include "barriers/nodes/proxy_network.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>

namespace mgsync::nodes {

using algorithm::host_limits;

proxy_network::proxy_network(communicator rail)
    : rail_(std::move(rail)), comm_(rail_.native_handle()->comm), sent_(nodes(), 0), answered_(nodes(), 0) {
  unsigned step = 0;
  for (unsigned distance = 1; distance < nodes(); distance *= 2, ++step)
    steps_.push_back(std::make_unique<preposted<message>>(
        comm_, static_cast<int>((node() + nodes() - distance) % nodes()), tag_of(step)));
  heard_leaves_ = std::make_unique<preposted<leave>>(comm_, MPI_ANY_SOURCE, leave_tag);
  heard_endings_ = std::make_unique<preposted<ending>>(comm_, MPI_ANY_SOURCE, ending_tag);
  rail_.barrier("posting what the proxies of a barrier over nodes receive");
}

proxy_network::~proxy_network() {
  if (std::uncaught_exceptions() > 0) return;
  try {
    drain();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mgsync: ending the proxies of a barrier over nodes: %s\n", error.what());
  }
}

// Receives all that is still under way: how much that is, the senders tell.
void proxy_network::drain() {
  const watched_call bounded(*rail_.native_handle(), "ending the proxies of a barrier over nodes");
  std::uint64_t expected = 0;
  check_mpi(MPI_Reduce_scatter_block(sent_.data(), &expected, 1, MPI_UINT64_T, MPI_SUM, comm_),
            "counting the messages between nodes");
  const auto taken = [&] {
    auto all = heard_leaves_->taken() + heard_endings_->taken();
    for (const auto& step : steps_) all += step->taken();
    return all;
  };
  while (taken() < expected) {
    for (const auto& step : steps_) step->take([](const auto&) {});
    heard_leaves_->take([](const auto&) {});
    heard_endings_->take([](const auto&) {});
  }
  epochs_.finish();
  leaves_.finish();
  endings_.finish();
  for (const auto& step : steps_) step->cancel();
  heard_leaves_->cancel();
  heard_endings_->cancel();
}

void proxy_network::begin(const host_limits& limits, bool checked, std::function<void()> aside) {
  limits_ = limits;
  waits_ = algorithm::host_policy(limits);
  aside_ = std::move(aside);
  polls_per_look_ = checked ? 1 : 64;
  ++run_;
  std::ranges::fill(answered_, char{0});
  ended_ = false;
}

void proxy_network::look_around() {
  hear_endings();
  aside_();
}

void proxy_network::hear_endings() {
  heard_endings_->take([&](const ending& e) {
    if (e.run != run_) return;
    answered_[e.node] = 1;
    ended_ = true;
    std::uint32_t none = 0;
    std::atomic_ref<std::uint32_t>(*limits_.abort).compare_exchange_strong(none, e.why);
  });
}

std::vector<unsigned> proxy_network::call_the_roll() {
  using namespace std::chrono_literals;
  const auto why = std::atomic_ref<std::uint32_t>(*limits_.abort).load();
  answered_[node()] = 1;
  for (unsigned n = 0; n < nodes(); ++n)
    if (n != node()) {
      endings_.start({run_, node(), why}, static_cast<int>(n), ending_tag, comm_);
      ++sent_[n];
    }
  const auto silent = [&] { return std::ranges::find(answered_, char{0}) != answered_.end(); };
  const auto until = limits_.now() + 1500ms;
  while (silent() && limits_.now() < until) {
    hear_endings();
    std::this_thread::sleep_for(100us);
  }
  std::vector<unsigned> missing;
  for (unsigned n = 0; n < nodes(); ++n)
    if (answered_[n] == 0 && why == host_limits::timed_out) missing.push_back(n);
  return missing;
}

}  // namespace mgsync::nodes
