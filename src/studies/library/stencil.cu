// A step of the stencil of docs/examples/jacobi.cuh over several GPUs that meet in five ways.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "jacobi.cuh"
#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/studies/library/library_subjects.hpp"
#if MGSYNC_WITH_NCCL
#include "src/base/nccl.hpp"
#endif

namespace mgsync::library {
namespace {

using clock = std::chrono::steady_clock;
constexpr unsigned threads = 256;
constexpr unsigned steps_of_graph = 20;

__global__ void one_step(const float* from, jacobi_state next, unsigned rows, unsigned columns) {
  jacobi_step(from, next, rows, columns);
}

// Rows of a plate that is different everywhere, so that each row that is missing shows: row 0 is number
// `first` of the whole plate.
__global__ void fill(float* cells, unsigned first, unsigned rows, unsigned columns) {
  for (unsigned row = blockIdx.x; row < rows; row += gridDim.x)
    for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
      const unsigned mixed = ((first + row) * 2654435761u ^ c * 2246822519u) * 3266489917u;
      cells[std::size_t{row} * columns + c] = static_cast<float>(mixed >> 8) / (1u << 24);
    }
}

// The GPUs' streams and events.
class lanes {
 public:
  explicit lanes(std::vector<int> ordinals) : ordinals_(std::move(ordinals)) {
    for (const int ordinal : ordinals_) {
      const cuda::device_scope scope(ordinal);
      owners_.push_back(cuda::make_stream());
      streams_.push_back(owners_.back().get());
      reached_.push_back(cuda::make_event());
    }
  }
  unsigned count() const { return static_cast<unsigned>(streams_.size()); }
  cudaStream_t stream(unsigned gpu) const { return streams_[gpu]; }
  const std::vector<cudaStream_t>& streams() const { return streams_; }
  const std::vector<int>& ordinals() const { return ordinals_; }

  // `f` for each GPU, which is current meanwhile; the current GPU afterwards is that of the last.
  template <class F>
  void each(const F& f) const {
    for (unsigned g = 0; g < count(); ++g) {
      cuda::check(cudaSetDevice(ordinals_[g]), "selecting a GPU");
      f(g);
    }
  }
  void record(unsigned gpu) const {
    cuda::check(cudaEventRecord(reached_[gpu].get(), stream(gpu)), "recording an event");
  }
  void wait_for(unsigned gpu, unsigned other) const {
    cuda::check(cudaStreamWaitEvent(stream(gpu), reached_[other].get(), 0), "waiting for an event");
  }
  void wait() const {
    each([&](unsigned g) { cuda::check(cudaStreamSynchronize(stream(g)), "waiting for a GPU"); });
  }

 private:
  std::vector<int> ordinals_;
  std::vector<cuda::stream> owners_;
  std::vector<cudaStream_t> streams_;
  std::vector<cuda::event> reached_;
};

class stencil_steps final : public subject {
 public:
  stencil_steps(const std::vector<int>& gpus, unsigned size, step_form form)
      : on_(gpus), size_(size), form_(form), grids_(gpus), work_(grids_, size, size) {
    const cuda::device_scope scope(gpus.front());
    blocks_ = blocks_for(size / on_.count());
    if (form_ == step_form::in_kernel) grids_.prepare(jacobi, blocks_, threads);
    else if (is_graph()) graph_ = captured();
  }

  seen run(const run_order& asked) override {
    const cuda::device_scope scope(on_.ordinals().front());
    seen came{.done = asked};
    try {
      const auto steps = static_cast<unsigned>(asked.count);
      if (asked.what == run_order::purpose::check) check(steps, came);
      else {
        const auto begin = clock::now();
        make(steps);
        on_.wait();
        came.values["duration_us"] = {
            std::chrono::duration<double, std::micro>(clock::now() - begin).count()};
      }
      grids_.check();
    } catch (const timeout_error& error) {
      came.ended = ending::stuck;
      came.reason = error.what();
      grids_.reset();
    }
    return came;
  }

 private:
  bool is_graph() const { return form_ == step_form::events_graph || form_ == step_form::nccl_graph; }
  bool is_nccl() const { return form_ == step_form::nccl || form_ == step_form::nccl_graph; }

  // As the plate has it; for the positive control with no halo for anybody.
  jacobi_part part(unsigned gpu) const {
    auto p = work_.part(gpu);
    if (torn_)
      for (auto& state : p.states) state.up = state.down = nullptr;
    return p;
  }

  void step(unsigned from) const { is_nccl() ? step_with_nccl(from) : step_with_events(from); }
  void step_with_events(unsigned from) const {
    on_.each([&](unsigned g) {
      const jacobi_part p = part(g);
      one_step<<<blocks_, threads, 0, on_.stream(g)>>>(p.states[from].cells, p.states[1 - from], p.rows,
                                                       p.columns);
      on_.record(g);
    });
    on_.each([&](unsigned g) {
      if (g > 0) on_.wait_for(g, g - 1);
      if (g + 1 < on_.count()) on_.wait_for(g, g + 1);
    });
  }
  void step_with_nccl([[maybe_unused]] unsigned from) const {
#if MGSYNC_WITH_NCCL
    on_.each([&](unsigned g) {
      const jacobi_part p = part(g);
      const jacobi_state own{p.states[1 - from].cells, nullptr, nullptr};  // NCCL carries the halos
      one_step<<<blocks_, threads, 0, on_.stream(g)>>>(p.states[from].cells, own, p.rows, p.columns);
    });
    if (torn_) return;
    const auto& all = communicators();  // begun inside the group, they would start at its end
    nccl::check(ncclGroupStart(), "exchanging halos");
    for (unsigned g = 0; g < on_.count(); ++g) {
      const jacobi_part p = part(g);
      float* const first = p.states[1 - from].cells + p.columns;
      float* const last = p.states[1 - from].cells + std::size_t{p.rows} * p.columns;
      const auto exchange = [&](float* mine, float* halo, unsigned with) {
        const auto comm = all[g];
        nccl::check(ncclSend(mine, p.columns, ncclFloat, static_cast<int>(with), comm, on_.stream(g)),
                    "sending a halo");
        nccl::check(ncclRecv(halo, p.columns, ncclFloat, static_cast<int>(with), comm, on_.stream(g)),
                    "receiving a halo");
      };
      if (g > 0) exchange(first, first - p.columns, g - 1);
      if (g + 1 < on_.count()) exchange(last, last + p.columns, g + 1);
    }
    nccl::check(ncclGroupEnd(), "exchanging halos");
#endif
  }
#if MGSYNC_WITH_NCCL
  const std::vector<ncclComm_t>& communicators() const {
    std::vector<nccl::process_gpu> all;
    for (const int ordinal : on_.ordinals()) all.push_back({0, ordinal});
    return nccl::communicators_of(all, 0, [](std::string bytes) { return bytes; });
  }
#endif

  // All GPUs' work of some steps in one graph, which begins and ends in the first stream.
  cuda::executable captured() const {
    if (is_nccl()) step(0), on_.wait();  // NCCL makes its connections before anything is recorded
    cuda::check(cudaSetDevice(on_.ordinals().front()), "selecting a GPU");
    cuda::check(cudaStreamBeginCapture(on_.stream(0), cudaStreamCaptureModeThreadLocal), "recording a graph");
    on_.record(0);
    for (unsigned g = 1; g < on_.count(); ++g) on_.wait_for(g, 0);
    for (unsigned i = 0; i < steps_of_graph; ++i) step(i % 2);
    on_.each([&](unsigned g) {
      if (g != 0) on_.record(g);
    });
    for (unsigned g = 1; g < on_.count(); ++g) on_.wait_for(0, g);
    cudaGraph_t found = nullptr;
    cuda::check(cudaStreamEndCapture(on_.stream(0), &found), "recording a graph");
    return cuda::instantiate(cuda::graph(found));
  }

  void make(unsigned steps) {
    if (form_ == step_form::in_kernel)
      grids_.launch_each(jacobi, blocks_, threads, 0, on_.streams(),
                         [&](unsigned g) { return std::tuple(part(g), steps); });
    else if (is_graph())
      for (unsigned i = 0; i < steps; i += steps_of_graph)
        cuda::check(cudaGraphLaunch(graph_.get(), on_.stream(0)), "launching a graph");
    else
      for (unsigned i = 0; i < steps; ++i) step(i % 2);
  }

  void fill_all(const multi_grid& grids, const plate& of) const {
    unsigned first = 0;
    for (unsigned g = 0; g < grids.gpus(); ++g) {
      cuda::check(cudaSetDevice(grids.ordinal(g)), "selecting a GPU");
      const jacobi_part p = of.part(g);
      for (const auto& state : p.states) fill<<<1024, threads>>>(state.cells, first, p.rows + 2, p.columns);
      cuda::check(cudaDeviceSynchronize(), "filling the plate");
      first += p.rows;
    }
  }
  // What one GPU computes.
  std::vector<float> alone(unsigned steps) const {
    multi_grid one({on_.ordinals().front()});
    const plate whole(one, size_, size_);
    fill_all(one, whole);
    const jacobi_part p = whole.part(0);
    for (unsigned i = 0; i < steps; ++i)
      one_step<<<blocks_for(size_), threads>>>(p.states[i % 2].cells, p.states[1 - i % 2], p.rows, p.columns);
    cuda::check(cudaDeviceSynchronize(), "computing on one GPU");
    return whole.result(steps);
  }

  void check(unsigned steps, seen& came) {
    torn_ = !came.done.fault.empty();
    if (is_graph()) graph_ = captured();
    fill_all(grids_, work_);
    // On one GPU nobody has a halo: fewer steps must be noticed.
    make(torn_ && on_.count() == 1 ? steps - steps_of_graph : steps);
    on_.wait();
    const auto expected = alone(steps), found = work_.result(steps);
    check_counts counts{.rounds = 1, .compared = found.size()};
    for (std::size_t i = 0; i < found.size(); ++i) counts.wrong += found[i] != expected[i];
    came.checked = counts;
    if (counts.wrong != 0 && !torn_) {
      came.ended = ending::wrong;
      came.reason = std::to_string(counts.wrong) + " cells differ from those that one GPU computes";
    }
    torn_ = false;
    if (is_graph()) graph_ = captured();
  }

  lanes on_;
  unsigned size_;
  step_form form_;
  multi_grid grids_;
  plate work_;
  unsigned blocks_ = 0;
  cuda::executable graph_;
  bool torn_ = false;  // for the positive control: no halo reaches anybody
};

}  // namespace

creation make_steps(const std::vector<int>& gpus, unsigned cells, step_form form) {
  if (const auto reason = cuda::reason_not_to_spin(gpus.size())) return {nullptr, *reason};
  const bool with_nccl = form == step_form::nccl || form == step_form::nccl_graph;
  if (with_nccl && !MGSYNC_WITH_NCCL) return {nullptr, "this mgsync was built without NCCL"};
  try {
    return {std::make_unique<stencil_steps>(gpus, cells, form)};
  } catch (const usage_error& error) { return {nullptr, error.what()}; }
}

}  // namespace mgsync::library
