// The barrier over nodes on real threads: workers, proxies, and a network that delays messages and lets those
// of one node overtake those of another. Without arguments the sound one must hold, also where the network
// doubles messages, and each planted fault must be caught within 4096 rounds by a sentence with its name.
// With `weaken WHAT` one ordering is relaxed, and ThreadSanitizer must report the race.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "barriers/parts/algorithm/host_policy.hpp"
#include "tests/race/nodes_twins.hpp"
#include "tests/race/thread_policy.hpp"

namespace {

using namespace mgsync::algorithm;
using namespace mgsync::race;
using mgsync::race::nodes::message;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::uint64_t start = 0xfffffff0u;  // the low half of the epochs wraps

struct shape {
  unsigned nodes, members, blocks, proxies;
  unsigned members_in_all() const { return nodes * members; }
  unsigned workers() const { return nodes * members * blocks; }
};

// What is wrong around a proxy.
struct accident {
  enum class kind { none, dropped, doubled, delayed, proxy_stops } what = kind::none;
  unsigned round = 40;  // of a message that is dropped, or of a proxy's last pass
};

// Takes a message to its receiver some time later. Those of one edge stay in order.
class postal_service {
 public:
  postal_service(accident a, unsigned nodes, unsigned seed) : accident_(a), nodes_(nodes), random_(seed) {}

  void send(unsigned rail, unsigned from, unsigned to, unsigned step, const message& m) {
    std::lock_guard lock(mutex_);
    if (accident_.what == accident::kind::dropped && from == 1 && m.epoch == start + accident_.round) return;
    auto due = steady_clock::now() + std::chrono::microseconds(random_() % 4 == 0 ? random_() % 20 : 0);
    if (accident_.what == accident::kind::delayed && from == nodes_ - 1 && to == 1 && m.epoch % 8 == 5)
      due += 300us;
    auto& queue = queues_[rail][to][step];
    if (!queue.empty()) due = std::max(due, queue.back().due);
    queue.push_back({due, m});
    if (accident_.what == accident::kind::doubled && m.epoch % 16 == 3) queue.push_back({due, m});
  }

  template <class F>
  void take(unsigned rail, unsigned node, unsigned step, F f) {
    std::unique_lock lock(mutex_);
    auto& queue = queues_[rail][node][step];
    while (!queue.empty() && queue.front().due <= steady_clock::now()) {
      f(queue.front().what);
      queue.pop_front();
    }
  }

 private:
  struct letter {
    steady_clock::time_point due;
    message what;
  };
  static constexpr unsigned most = 8;
  std::mutex mutex_;
  accident accident_;
  unsigned nodes_;
  std::minstd_rand random_;
  std::deque<letter> queues_[most][most][most];
};

// What one proxy sees of it, bounded as the host's waits are.
struct network {
  postal_service& post;
  host_policy waits;
  unsigned rail, node;
  std::string waited_for = "its own members";
  unsigned nodes = 0;

  void send(unsigned to, unsigned step, const message& m) { post.send(rail, node, to, step, m); }
  template <class F>
  void take(unsigned step, F f) {
    waited_for = "node " + std::to_string((node + nodes - (1u << step) % nodes) % nodes);
    post.take(rail, node, step, f);
  }
  template <class Condition>
  bool wait_until(Condition holds) {
    waited_for = "its own members";
    return waits.wait_until(holds);
  }
};

struct verdict {
  std::string sentence;  // empty: nothing was wrong
  unsigned rounds = 0;
};

// All nodes' threads for some rounds; the policy of the workers may be weakened.
template <class Twin, class Policy>
class nodes_run {
 public:
  nodes_run(shape s, accident a, unsigned rounds, std::chrono::milliseconds patience,
            const std::function<Policy(const host_limits&)>& make)
      : of_(s), accident_(a), rounds_(rounds), make_(make), post_(a, s.nodes, rounds), came_(s.workers()) {
    limits_ = {patience, &given_up_, true};
    const across_nodes::lines lines{of_.members};
    part_ = lines.count() * (line_bytes / sizeof(std::uint32_t));
    memory_.assign(of_.members_in_all() * part_, static_cast<std::uint32_t>(start));
    for (unsigned m = 0; m < of_.members_in_all(); ++m) {
      memory_[m * part_] = counter_start(of_.blocks, static_cast<std::uint32_t>(start));
      parts_.push_back(&memory_[m * part_]);
    }
    data_.resize(2 * of_.workers());
    carried_.resize(2 * of_.nodes * of_.proxies);
  }

  verdict operator()() {
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < of_.workers(); ++w) threads.emplace_back([this, w] { work(w); });
    for (unsigned p = 0; p < of_.nodes * of_.proxies; ++p) threads.emplace_back([this, p] { serve(p); });
    for (auto& t : threads) t.join();
    return {sentence_, rounds_};
  }

 private:
  host_lines memory_of(unsigned node) { return {parts_.data() + node * of_.members}; }

  void work(unsigned self) {
    const unsigned of_node = of_.members * of_.blocks, node = self / of_node, first = node * of_node;
    Policy policy = make_(limits_);
    auto memory = memory_of(node);
    const position at{(self - first) / of_.blocks, of_.members, self % of_.blocks, of_.blocks};
    for (unsigned round = 1; round <= rounds_; ++round) {
      if (round % of_.workers() == self) come_last(round, self);
      const auto epoch = start + round;
      auto* data = &data_[round % 2 * of_.workers()];
      data[self] = round;
      came_[self].store(round, std::memory_order_relaxed);
      if (!across_nodes::arrive_and_wait(policy, memory, at, of_.proxies, static_cast<std::uint32_t>(epoch)))
        return;
      for (unsigned w = 0; w < of_.workers(); ++w)
        if (came_[w].load(std::memory_order_relaxed) < round)
          say("node " + std::to_string(node) + " left round " + std::to_string(round) + " before node " +
              std::to_string(w / of_node) + " had arrived");
      for (unsigned w = first; w < first + of_node; ++w)
        if (data[w] != round) say("stale memory inside node " + std::to_string(node));
      if (!Twin::carries) continue;
      const unsigned proxy = node * of_.proxies + at.member * of_.proxies / of_.members;
      if (carried_[round % 2 * of_.nodes * of_.proxies + proxy] != epoch * 8 + of_.nodes - 1)
        say("what the proxies carried did not reach node " + std::to_string(node));
    }
  }

  // One worker waits until the others have come, and then long enough for them to leave, if they do.
  void come_last(unsigned round, unsigned self) {
    const auto until = steady_clock::now() + 20ms;
    for (unsigned w = 0; w < of_.workers(); ++w)
      while (w != self && came_[w].load(std::memory_order_relaxed) < round && steady_clock::now() < until)
        std::this_thread::yield();
    const auto then = steady_clock::now() + 50us;
    while (steady_clock::now() < then) std::this_thread::yield();
  }

  void serve(unsigned number) {
    const unsigned node = number / of_.proxies, rail = number % of_.proxies;
    Policy policy = make_(limits_);
    network net{post_, host_policy(limits_), rail, node};
    net.nodes = of_.nodes;
    using proxy_of = typename Twin::template proxy<Policy, host_lines, network>;
    proxy_of proxy(memory_of(node), {node, of_.nodes, rail, of_.proxies, of_.members}, start);
    for (unsigned round = 1; round <= rounds_; ++round) {
      if (accident_.what == accident::kind::proxy_stops && node == 1 && round == accident_.round) return;
      const auto epoch = start + round;
      const auto given = [&] { return epoch * 8 + (node + epoch) % of_.nodes; };
      const auto carry = [&](std::uint64_t word) {
        carried_[round % 2 * of_.nodes * of_.proxies + number] = word;
      };
      if (proxy.pass(policy, net, epoch, given, carry)) continue;
      say("node " + std::to_string(node) + " waited in vain for " + net.waited_for + " in round " +
          std::to_string(round));
      return;
    }
  }

  void say(const std::string& what) {
    std::lock_guard lock(mutex_);
    if (sentence_.empty() || what < sentence_) sentence_ = what;
  }

  shape of_;
  accident accident_;
  unsigned rounds_;
  std::function<Policy(const host_limits&)> make_;
  postal_service post_;
  host_limits limits_;
  std::uint32_t given_up_ = 0;
  std::size_t part_ = 0;
  std::vector<std::uint32_t> memory_;
  std::vector<std::uint32_t*> parts_;
  std::vector<std::uint32_t> data_;     // plain: inside a node the barrier orders it
  std::vector<std::uint64_t> carried_;  // plain too: written by a proxy before it lets its members go
  std::vector<std::atomic<unsigned>> came_;
  std::mutex mutex_;
  std::string sentence_;
};

constexpr shape shapes[] = {{1, 2, 1, 1}, {2, 1, 1, 1}, {3, 1, 1, 1}, {5, 1, 1, 1}, {2, 2, 1, 1},
                            {2, 2, 1, 2}, {2, 1, 2, 1}, {3, 2, 2, 2}, {2, 4, 1, 2}};

int failures = 0;

void line(bool good, const std::string& text) {
  if (!good) ++failures;
  std::printf("%s  %s\n", good ? "ok  " : "FAIL", text.c_str());
  std::fflush(stdout);
}

host_policy shipped(const host_limits& limits) { return host_policy(limits); }

void holds(shape s, accident::kind what, const char* words) {
  const auto seen = nodes_run<nodes::sound, host_policy>(s, {what}, 200, 60s, shipped)();
  line(seen.sentence.empty(), std::to_string(s.nodes) + " nodes of " + std::to_string(s.members) + "x" +
                                  std::to_string(s.blocks) + " with " + std::to_string(s.proxies) +
                                  " proxies" + words + ": " +
                                  (seen.sentence.empty() ? "sound" : seen.sentence));
}

// The fault must be caught, by a sentence that begins as this one.
template <class Twin>
void caught(const std::string& name, accident a, std::string_view says) {
  unsigned rounds = 256;
  verdict seen;
  const auto patience = says.find("in vain") == std::string_view::npos ? 60'000ms : 1'500ms;
  for (; rounds <= 4096 && seen.sentence.empty(); rounds *= 4)
    seen = nodes_run<Twin, host_policy>({3, 1, 1, 1}, a, rounds, patience, shipped)();
  line(seen.sentence.find(says) != std::string::npos, name + ": " + seen.sentence);
}

int run_all() {
  using enum accident::kind;
  for (const auto& s : shapes) holds(s, none, "");
  for (const shape s : {shape{3, 1, 1, 1}, shape{2, 2, 1, 2}}) {
    holds(s, doubled, ", messages doubled");
    holds(s, delayed, ", messages to one node late");
  }
  constexpr std::string_view early = "before node";
  caught<nodes::released_early>(nodes::released_early::name, {}, early);
  caught<nodes::sound>("dropped", {dropped}, "waited in vain for node 1");
  caught<nodes::counts_messages>("doubled", {doubled}, early);
  caught<nodes::stale_epoch>("stale-epoch", {}, early);
  caught<nodes::shared_counter>("shared-counter", {delayed}, "what the proxies carried did not reach node 1");
  caught<nodes::two_epochs_in_one_cell>("two-epochs-in-one-cell", {}, early);
  caught<nodes::sound>("proxy-stops", {proxy_stops}, "waited in vain for node 1");
  return failures == 0 ? 0 : 1;
}

int run_weakened(std::string_view what) {
  const auto which = std::find(weakness_names.begin(), weakness_names.end(), what);
  if (which == weakness_names.end()) return 2;
  const auto weakened = static_cast<weakness>(which - weakness_names.begin());
  const auto make = [=](const host_limits&) { return thread_policy(weakened); };
  return nodes_run<nodes::sound, thread_policy>({2, 2, 2, 1}, {}, 60, 60s, make)().sentence.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::string_view(words[1]) == "weaken") return run_weakened(words[2]);
  return run_all();
}
