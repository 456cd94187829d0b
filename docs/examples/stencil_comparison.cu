// The Jacobi iteration of jacobi.cuh over N GPUs of this process, synchronized in five ways: the barrier
// inside one kernel; a kernel per step, GPUs meeting by events, launched or in a graph; a kernel per step and
// NCCL's exchange of the halos, launched or in a graph. Prints microseconds per step: (T(long) - T(short)) /
// difference in steps, the median of several repeats, the methods in turn. Every result is checked against
// one GPU's where it is small enough. Usage: stencil_comparison [GPUS [REPEATS]]. With -1 for GPUS: all.
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jacobi.cuh"

namespace {

constexpr unsigned threads = 256;
constexpr unsigned steps_of_graph = 20;

void check(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(status));
  std::exit(1);
}

__global__ void one_step(const float* from, jacobi_state next, unsigned rows, unsigned columns) {
  jacobi_step(from, next, rows, columns);
}

// The GPUs' streams and events.
struct lanes {
  explicit lanes(unsigned gpus) : streams(gpus), reached(gpus), communicators(gpus) {
    std::vector<int> ordinals;
    for (unsigned g = 0; g < gpus; ++g) {
      ordinals.push_back(static_cast<int>(g));
      check(cudaSetDevice(ordinals.back()), "selecting a GPU");
      check(cudaStreamCreateWithFlags(&streams[g], cudaStreamNonBlocking), "creating a stream");
      check(cudaEventCreateWithFlags(&reached[g], cudaEventDisableTiming), "creating an event");
    }
    check(ncclCommInitAll(communicators.data(), static_cast<int>(gpus), ordinals.data()), "starting NCCL");
  }
  unsigned count() const { return static_cast<unsigned>(streams.size()); }
  void each(const std::function<void(unsigned)>& f) const {
    for (unsigned g = 0; g < count(); ++g) {
      check(cudaSetDevice(static_cast<int>(g)), "selecting a GPU");
      f(g);
    }
  }
  void wait() const {
    each([&](unsigned g) { check(cudaStreamSynchronize(streams[g]), "waiting for a GPU"); });
  }

  std::vector<cudaStream_t> streams;
  std::vector<cudaEvent_t> reached;
  std::vector<ncclComm_t> communicators;
};

struct setting {
  mgsync::multi_grid& grids;
  const lanes& on;
  plate& work;
  unsigned blocks;
};

void step_with_events(const setting& s, unsigned from) {
  s.on.each([&](unsigned g) {
    const jacobi_part p = s.work.part(g);
    one_step<<<s.blocks, threads, 0, s.on.streams[g]>>>(p.states[from].cells, p.states[1 - from], p.rows,
                                                        p.columns);
    check(cudaEventRecord(s.on.reached[g], s.on.streams[g]), "recording an event");
  });
  s.on.each([&](unsigned g) {
    if (g > 0) check(cudaStreamWaitEvent(s.on.streams[g], s.on.reached[g - 1], 0), "waiting for an event");
    if (g + 1 < s.on.count())
      check(cudaStreamWaitEvent(s.on.streams[g], s.on.reached[g + 1], 0), "waiting for an event");
  });
}

void step_with_nccl(const setting& s, unsigned from) {
  s.on.each([&](unsigned g) {
    const jacobi_part p = s.work.part(g);
    const jacobi_state own{p.states[1 - from].cells, nullptr, nullptr};  // NCCL carries the halos
    one_step<<<s.blocks, threads, 0, s.on.streams[g]>>>(p.states[from].cells, own, p.rows, p.columns);
  });
  check(ncclGroupStart(), "exchanging halos");
  for (unsigned g = 0; g < s.on.count(); ++g) {
    const jacobi_part p = s.work.part(g);
    float* const first = p.states[1 - from].cells + p.columns;
    float* const last = p.states[1 - from].cells + std::size_t{p.rows} * p.columns;
    const auto exchange = [&](float* mine, float* halo, unsigned with) {
      check(ncclSend(mine, p.columns, ncclFloat, static_cast<int>(with), s.on.communicators[g],
                     s.on.streams[g]),
            "sending");
      check(ncclRecv(halo, p.columns, ncclFloat, static_cast<int>(with), s.on.communicators[g],
                     s.on.streams[g]),
            "receiving");
    };
    if (g > 0) exchange(first, first - p.columns, g - 1);
    if (g + 1 < s.on.count()) exchange(last, last + p.columns, g + 1);
  }
  check(ncclGroupEnd(), "exchanging halos");
}

using step_function = void (*)(const setting&, unsigned from);
using run_function = std::function<void(unsigned steps)>;

run_function launched(const setting& s, step_function step) {
  return [s, step](unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) step(s, i % 2);
  };
}

// All GPUs' work of some steps in one graph, which begins and ends in the first stream.
run_function in_a_graph(const setting& s, step_function step) {
  const auto first = s.on.streams[0];
  check(cudaSetDevice(0), "selecting a GPU");
  check(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), "recording a graph");
  check(cudaEventRecord(s.on.reached[0], first), "recording a graph");
  for (unsigned g = 1; g < s.on.count(); ++g)
    check(cudaStreamWaitEvent(s.on.streams[g], s.on.reached[0], 0), "recording a graph");
  for (unsigned i = 0; i < steps_of_graph; ++i) step(s, i % 2);
  s.on.each([&](unsigned g) {
    if (g != 0) check(cudaEventRecord(s.on.reached[g], s.on.streams[g]), "recording a graph");
  });
  for (unsigned g = 1; g < s.on.count(); ++g)
    check(cudaStreamWaitEvent(first, s.on.reached[g], 0), "recording a graph");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check(cudaStreamEndCapture(first, &graph), "recording a graph");
  check(cudaGraphInstantiate(&ready, graph, 0), "instantiating a graph");
  check(cudaGraphDestroy(graph), "destroying a graph");
  return [first, ready](unsigned steps) {
    for (unsigned i = 0; i < steps; i += steps_of_graph)
      check(cudaGraphLaunch(ready, first), "launching a graph");
  };
}

struct method {
  std::string name;
  run_function run;
  std::vector<double> us_per_step;
};

std::vector<method> methods_of(const setting& s) {
  std::vector<method> all;
  all.push_back({"in-kernel barrier",
                 [s](unsigned steps) {
                   s.grids.launch_each(jacobi, s.blocks, threads, 0, s.on.streams,
                                       [&](unsigned g) { return std::tuple(s.work.part(g), steps); });
                 },
                 {}});
  all.push_back({"kernel boundary, events", launched(s, step_with_events), {}});
  all.push_back({"kernel boundary, graph", in_a_graph(s, step_with_events), {}});
  all.push_back({"NCCL halos", launched(s, step_with_nccl), {}});
  all.push_back({"NCCL halos, graph", in_a_graph(s, step_with_nccl), {}});
  return all;
}

double seconds(const lanes& on, const method& m, unsigned steps) {
  on.wait();
  const auto begin = std::chrono::steady_clock::now();
  m.run(steps);
  on.wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The result of one GPU on the same plate, to compare with.
std::vector<float> alone(unsigned size, unsigned steps) {
  mgsync::multi_grid one({0});
  plate work(one, size, size);
  one.launch(jacobi, blocks_for(size), threads, 0, {}, work.part(0), steps);
  one.wait();
  return work.result(steps);
}

bool compare(const lanes& on, unsigned size, unsigned repeats, bool checked) {
  std::vector<int> ordinals;
  for (unsigned g = 0; g < on.count(); ++g) ordinals.push_back(static_cast<int>(g));
  mgsync::multi_grid grids(ordinals);
  check(cudaSetDevice(0), "selecting a GPU");
  const unsigned blocks = blocks_for(size / on.count());
  plate work(grids, size, size);
  auto methods = methods_of({grids, on, work, blocks});
  bool right = true;
  const unsigned check_steps = 2 * steps_of_graph;
  const auto expected = checked ? alone(size, check_steps) : std::vector<float>{};
  for (const auto& m : methods) {
    if (!checked) break;
    plate fresh(grids, size, size);
    for (auto& n : methods_of({grids, on, fresh, blocks}))
      if (n.name == m.name) n.run(check_steps);
    on.wait();
    if (fresh.result(check_steps) != expected) {
      std::printf("WRONG: %s at %u x %u\n", m.name.c_str(), size, size);
      right = false;
    }
  }
  const unsigned few = size >= 8192 ? 20 : 100, many = 11 * few;
  for (unsigned r = 0; r <= repeats; ++r)  // the first warms up
    for (auto& m : methods) {
      const double difference = seconds(on, m, many) - seconds(on, m, few);
      if (r != 0) m.us_per_step.push_back(difference / (many - few) * 1e6);
    }
  grids.check();
  for (auto& m : methods) {
    auto& v = m.us_per_step;
    std::sort(v.begin(), v.end());
    std::printf("%u,%u,%u,%s,%.3f,%.3f,%.3f,%s\n", on.count(), size, blocks, m.name.c_str(), v[v.size() / 2],
                v.front(), v.back(), checked ? (right ? "right" : "wrong") : "not checked");
    std::fflush(stdout);
  }
  return right;
}

}  // namespace

int main(int count, char** words) try {
  const int gpus = gpus_asked_for(count, words);
  if (gpus == 0) return nothing_run;
  const unsigned repeats = count > 2 ? static_cast<unsigned>(std::atoi(words[2])) : 11;
  const lanes on(static_cast<unsigned>(gpus));
  std::printf("gpus,rows and columns,blocks per gpu,method,us per step (median),least,most,result\n");
  bool right = true;
  for (const unsigned size : {1024u, 4096u, 16384u})
    right = compare(on, size, repeats, size <= 4096) && right;
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "stencil_comparison: %s\n", error.what());
  return 1;
}
