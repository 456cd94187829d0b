#include "src/models/scale_out/scale_out.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace mgsync::scale_out {
namespace {

// Proxies that exchange epochs: `times` are when each may begin, and then when each knows of all others.
class exchange {
 public:
  exchange(const network_times& network, double hop, unsigned radix, std::uint64_t seed)
      : network_(network),
        hop_(hop),
        radix_(radix),
        random_(seed),
        late_(1 / std::max(network.jitter, 1e-9)) {}

  // `each_node`: proxies of one node in a row, between which a message takes only a hop.
  void among(std::vector<double>& times, unsigned each_node) {
    const auto count = static_cast<unsigned>(times.size());
    for (unsigned distance = 1; distance < count; distance *= radix_) {
      auto after = times;
      for (unsigned j = 1; j < radix_ && j * distance < count; ++j)
        for (unsigned from = 0; from < count; ++from) {
          const unsigned to = (from + j * distance) % count;
          const double sent = times[from] + j * network_.gap;
          const double here = sent + (from / each_node == to / each_node ? hop_ : latency());
          after[from] = std::max(after[from], sent);
          after[to] = std::max(after[to] + network_.gap, here + network_.gap);
        }
      times = std::move(after);
    }
  }

 private:
  double latency() { return network_.latency + (network_.jitter > 0 ? late_(random_) : 0); }

  network_times network_;
  double hop_;
  unsigned radix_;
  std::minstd_rand random_;
  std::exponential_distribution<double> late_;
};

}  // namespace

double simulated_us(const cluster& of, const network_times& network, const node_times& node, unsigned rounds,
                    std::uint64_t seed) {
  exchange between(network, node.hop, of.radix, seed);
  const unsigned proxies = of.how == form::leader ? 1 : of.gpus;
  std::vector<double> left(std::size_t{of.nodes} * proxies,
                           0);  // by proxy: when the GPUs that it serves have left
  for (unsigned round = 0; round < rounds; ++round) {
    auto times = left;
    for (unsigned n = 0; n < of.nodes; ++n) {
      const auto first = times.begin() + n * proxies, end = first + proxies;
      const double all = *std::max_element(first, end);
      for (auto one = first; one != end; ++one)
        *one = (of.how == form::rail ? all : *one) + node.arrive + (n == 0 ? node.slow : 0);
    }
    if (of.how == form::rail) {
      for (unsigned rail = 0; rail < proxies; ++rail) {
        std::vector<double> its(of.nodes);
        for (unsigned n = 0; n < of.nodes; ++n) its[n] = times[n * proxies + rail];
        between.among(its, 1);
        for (unsigned n = 0; n < of.nodes; ++n) times[n * proxies + rail] = its[n];
      }
    } else {
      between.among(times, proxies);
    }
    for (std::size_t p = 0; p < times.size(); ++p) left[p] = times[p] + node.leave;
  }
  return *std::max_element(left.begin(), left.end()) / rounds;
}

}  // namespace mgsync::scale_out
