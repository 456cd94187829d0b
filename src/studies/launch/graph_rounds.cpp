#include "src/studies/launch/graph_rounds.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <fmt/format.h>

#include "src/base/cuda.hpp"

namespace mgsync::launch {
namespace {

using clock = std::chrono::steady_clock;

class rounds_in_a_graph final : public subject {
 public:
  explicit rounds_in_a_graph(const graph_rounds& asked) : asked_(asked) {
    const cuda::device_scope scope(asked_.gpus.front());
    stream_ = cuda::make_stream();
    timed_ = graph_of([](unsigned, unsigned) { return told_round{}; }, empty_kernel(), true);
  }

  seen run(const run_order& ordered) override {
    const cuda::device_scope scope(asked_.gpus.front());
    seen came{.done = ordered};
    if (ordered.what == run_order::purpose::check) check(came);
    else {
      const auto begin = clock::now();
      launch(timed_);
      came.values["total_us"] = {std::chrono::duration<double, std::micro>(clock::now() - begin).count()};
    }
    return came;
  }

 private:
  void launch(const cuda::executable& graph) const {
    cuda::check(cudaGraphLaunch(graph.get(), stream_.get()), "launching a graph");
    cuda::check(cudaStreamSynchronize(stream_.get()), "running a graph");
  }

  // A graph whose kernels get `argument_of(round, kernel)`; `ordered`: each waits for all of the round
  // before.
  template <class ArgumentOf>
  cuda::executable graph_of(const ArgumentOf& argument_of, const void* kernel, bool ordered) const {
    cudaGraph_t made = nullptr;
    cuda::check(cudaGraphCreate(&made, 0), "making a graph");
    const cuda::graph owner(made);
    std::vector<cudaGraphNode_t> before;
    for (unsigned r = 0; r < rounds_of_graph; ++r) {
      std::vector<cudaGraphNode_t> now(asked_.kernels);
      for (unsigned k = 0; k < asked_.kernels; ++k) {
        told_round argument = argument_of(r, k);
        void* arguments[] = {&argument};
        const cuda::device_scope of_the_node(asked_.gpus[k % asked_.gpus.size()]);
        cudaKernelNodeParams node{};
        node.func = const_cast<void*>(kernel);
        node.gridDim = node.blockDim = dim3(1);
        if (argument.mine != nullptr) node.kernelParams = arguments;  // an empty kernel has none
        cuda::check(cudaGraphAddKernelNode(&now[k], made, before.data(), before.size(), &node),
                    "adding a kernel");
      }
      if (asked_.joined && ordered) {
        cudaGraphNode_t join = nullptr;
        cuda::check(cudaGraphAddEmptyNode(&join, made, now.data(), now.size()), "adding a node");
        now = {join};
      }
      if (ordered) before = std::move(now);
    }
    return cuda::instantiate(owner);
  }

  void check(seen& came) const {
    const unsigned all = rounds_of_graph * asked_.kernels;
    const auto memory = cuda::memory::on_host(2 * all * sizeof(unsigned));
    auto* const told = memory.as<unsigned>();
    std::fill_n(told, 2 * all, 0u);
    const bool ordered = came.done.fault.empty();
    launch(graph_of(
        [&](unsigned r, unsigned k) {
          unsigned* const round = told + r * asked_.kernels;
          return told_round{round + k, r == 0 ? nullptr : round - asked_.kernels, asked_.kernels,
                            round + k + all};
        },
        telling_kernel(), ordered));
    check_counts found{.rounds = rounds_of_graph,
                       .compared = std::uint64_t{rounds_of_graph - 1} * asked_.kernels};
    for (unsigned w = 0; w < all; ++w) found.wrong += told[w] == 0 || told[all + w] != 0;
    came.checked = found;
    if (found.wrong == 0 || !ordered) return;
    came.ended = ending::wrong;
    came.reason = fmt::format("{} kernels started before all of the round before had ended", found.wrong);
  }

  graph_rounds asked_;
  cuda::stream stream_;
  cuda::executable timed_;
};

}  // namespace

creation make_graph_rounds(const graph_rounds& asked) {
  return {std::make_unique<rounds_in_a_graph>(asked), {}};
}

}  // namespace mgsync::launch
