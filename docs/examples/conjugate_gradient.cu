// Conjugate gradients for the Laplacian of a plate whose rows are divided among the GPUs of this process,
// with two sums over all GPUs in every step, made in three ways: by a barrier that carries them
// (sync_reduce), by a barrier and sums of one's own, and by NCCL between kernels where it was built in.
// Prints the time of a step of each, and compares: a repeated run to the bit, other ways and one GPU alone to
// 1e-9, and the solution, which is 1 everywhere, to 1e-6. Usage: conjugate_gradient [GPUS [ROWS COLUMNS
// STEPS]]. With -1 for GPUS: all.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <mgsync/multi_grid.cuh>
#include <mgsync/multi_grid.hpp>

#if defined(MGSYNC_EXAMPLE_NCCL)
#include <nccl.h>
#endif

#include "gpus.hpp"

namespace {

constexpr unsigned threads = 256, most_gpus = mgsync::multi_grid_handle::most_gpus;

struct sizes {
  unsigned rows = 256, columns = 256, steps = 2000;
};

// One GPU's rows: vectors of its cells, and the neighbours' rows of p beside its own (null at an edge).
struct part {
  double *x, *r, *p, *q;
  const double *above, *below;
  unsigned rows, columns;
  double* boards[most_gpus];  // every GPU's: a sum of each of its blocks, two in turn
};

// Of the calling thread: its cells, one by one.
template <class F>
__device__ void each_cell(const part& mine, F f) {
  const unsigned cells = mine.rows * mine.columns;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) f(i);
}
// q = A p. Returns the thread's share of p q.
__device__ double multiply(const part& mine) {
  double sum = 0;
  each_cell(mine, [&](unsigned i) {
    const unsigned row = i / mine.columns, c = i % mine.columns;
    double around = 0;
    if (row > 0) around += mine.p[i - mine.columns];
    else if (mine.above != nullptr) around += mine.above[c];
    if (row + 1 < mine.rows) around += mine.p[i + mine.columns];
    else if (mine.below != nullptr) around += mine.below[c];
    if (c > 0) around += mine.p[i - 1];
    if (c + 1 < mine.columns) around += mine.p[i + 1];
    mine.q[i] = 4 * mine.p[i] - around;
    sum += mine.p[i] * mine.q[i];
  });
  return sum;
}
// The thread's share of the new r r.
__device__ double advance(const part& mine, double alpha) {
  double sum = 0;
  each_cell(mine, [&](unsigned i) {
    mine.x[i] += alpha * mine.p[i];
    mine.r[i] -= alpha * mine.q[i];
    sum += mine.r[i] * mine.r[i];
  });
  return sum;
}
__device__ void turn(const part& mine, double beta) {
  each_cell(mine, [&](unsigned i) { mine.p[i] = mine.r[i] + beta * mine.p[i]; });
}
__host__ __device__ double quotient(double above, double below) { return below > 0 ? above / below : 0; }

// In thread 0, in a fixed order.
__device__ double sum_of_block(double mine) {
  __shared__ double warps[threads / 32];
  __syncthreads();
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = threadIdx.x < threads / 32 ? warps[threadIdx.x] : 0;
  for (int step = 4; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
  return mine;
}

// Both ways inside a kernel: a barrier, and the sum over all threads of all GPUs.
struct carried {
  __device__ bool operator()(mgsync::multi_grid_group& grids, const part&, unsigned, double& sum) const {
    const auto found = grids.sync_reduce(sum, mgsync::by_sum{});
    sum = found.value;
    return found.passed;
  }
};
struct summed_behind_barrier {
  __device__ bool operator()(mgsync::multi_grid_group& grids, const part& mine, unsigned turn,
                             double& sum) const {
    const double of_block = sum_of_block(sum);
    const unsigned at = turn * gridDim.x;
    if (threadIdx.x == 0) mine.boards[grids.grid_rank()][at + blockIdx.x] = of_block;
    if (!grids.sync()) return false;
    sum = 0;
    for (unsigned i = threadIdx.x; i < grids.num_grids() * gridDim.x; i += threads)
      sum += mine.boards[i / gridDim.x][at + i % gridDim.x];
    __shared__ double total;
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) total = sum;
    __syncthreads();
    sum = total;
    return true;
  }
};

template <class Way>
__global__ void __launch_bounds__(threads, 1) solve(const __grid_constant__ mgsync::multi_grid_handle handle,
                                                    const __grid_constant__ part mine, unsigned steps) {
  auto grids = mgsync::this_multi_grid(handle);
  const Way sum_of_all;
  double rr = 0;
  each_cell(mine, [&](unsigned i) { rr += mine.r[i] * mine.r[i]; });
  if (!sum_of_all(grids, mine, 1, rr)) return;
  for (unsigned step = 0; step < steps; ++step) {
    double pq = multiply(mine);
    if (!sum_of_all(grids, mine, 0, pq)) return;
    double next = advance(mine, quotient(rr, pq));
    if (!sum_of_all(grids, mine, 1, next)) return;
    turn(mine, quotient(next, rr));
    rr = next;
    if (!grids.sync()) return;  // the neighbours read p
  }
}

class plate {
 public:
  plate(int gpus, const sizes& size) : size_(size), grids_(first(gpus)) {
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "counting SMs");
    blocks_ = static_cast<unsigned>(sms);
    words_ = std::size_t{size.rows / grids_.gpus() + 1} * size.columns;
    memory_.push_back(grids_.allocate((4 * words_ + 2 * blocks_) * sizeof(double)));
  }

  unsigned gpus() const { return grids_.gpus(); }
  unsigned blocks() const { return blocks_; }
  const sizes& size() const { return size_; }
  part of(unsigned g) const {
    part made{
        vector(g, 0), vector(g, 1), vector(g, 2), vector(g, 3), nullptr, nullptr, rows(g), size_.columns, {}};
    if (g > 0) made.above = vector(g - 1, 2) + std::size_t{rows(g - 1) - 1} * size_.columns;
    if (g + 1 < gpus()) made.below = vector(g + 1, 2);
    for (unsigned m = 0; m < gpus(); ++m) made.boards[m] = vector(m, 4);
    return made;
  }
  // x is 0, r and p are what A makes of 1 everywhere.
  void begin() const {
    unsigned above = 0;
    for (unsigned g = 0; g < gpus(); above += rows(g), ++g) {
      std::vector<double> values(cells(g));
      for (unsigned i = 0; i < values.size(); ++i) {
        const unsigned row = above + i / size_.columns, c = i % size_.columns;
        values[i] = (row == 0) + (row + 1 == size_.rows) + (c == 0) + (c + 1 == size_.columns);
      }
      check(cudaSetDevice(static_cast<int>(g)), "selecting a GPU");
      check(cudaMemset(vector(g, 0), 0, words_ * sizeof(double)), "setting x");
      for (const unsigned of : {1u, 2u})
        check(
            cudaMemcpy(vector(g, of), values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice),
            "setting r and p");
      check(cudaDeviceSynchronize(), "setting up");
    }
  }
  std::vector<double> solution() const {
    std::vector<double> all;
    for (unsigned g = 0; g < gpus(); ++g) {
      const std::size_t before = all.size();
      all.resize(before + cells(g));
      check(cudaMemcpy(all.data() + before, vector(g, 0), cells(g) * sizeof(double), cudaMemcpyDefault),
            "reading x");
    }
    return all;
  }
  template <class Way>
  void run_in_kernel(unsigned steps) {
    grids_.launch_each(solve<Way>, blocks_, threads, 0, {},
                       [&](unsigned local) { return std::tuple(of(local), steps); });
    grids_.wait();
  }

 private:
  static std::vector<int> first(int gpus) {
    std::vector<int> ordinals;
    for (int g = 0; g < gpus; ++g) ordinals.push_back(g);
    return ordinals;
  }
  unsigned rows(unsigned g) const { return size_.rows / gpus() + (g < size_.rows % gpus() ? 1 : 0); }
  std::size_t cells(unsigned g) const { return std::size_t{rows(g)} * size_.columns; }
  double* vector(unsigned g, unsigned number) const {
    return memory_.front().part_as<double>(g) + number * words_;
  }

  sizes size_;
  mgsync::multi_grid grids_;
  unsigned blocks_ = 0;
  std::size_t words_ = 0;
  std::vector<mgsync::multi_grid_memory> memory_;
};

#if defined(MGSYNC_EXAMPLE_NCCL)
void check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) throw std::runtime_error(std::string(what) + ": " + ncclGetErrorString(status));
}

// In device memory of each GPU: sums of two kinds in turn, and rr of the step before.
__global__ void __launch_bounds__(threads) multiply_kernel(part mine, double* of_blocks) {
  const double sum = sum_of_block(multiply(mine));
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}
__global__ void __launch_bounds__(threads) advance_kernel(part mine, const double* sums, double* of_blocks) {
  const double sum = sum_of_block(advance(mine, quotient(sums[1], sums[0])));
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}
__global__ void __launch_bounds__(threads) turn_kernel(part mine, const double* sums) {
  turn(mine, quotient(sums[2], sums[1]));
}
__global__ void __launch_bounds__(threads) norm_kernel(part mine, double* of_blocks) {
  double sum = 0;
  each_cell(mine, [&](unsigned i) { sum += mine.r[i] * mine.r[i]; });
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = sum;
}
__global__ void __launch_bounds__(threads) add_up(const double* of_blocks, unsigned blocks, double* sum) {
  double mine = 0;
  for (unsigned i = threadIdx.x; i < blocks; i += threads) mine += of_blocks[i];
  mine = sum_of_block(mine);
  if (threadIdx.x == 0) *sum = mine;
}

// A kernel of every GPU for each stretch between two sums, and an all-reduce of one number.
class by_nccl {
 public:
  explicit by_nccl(const plate& work) : work_(work), comms_(work.gpus()), lanes_(work.gpus()) {
    check(ncclCommInitAll(comms_.data(), static_cast<int>(work.gpus()), nullptr), "starting NCCL");
    for (unsigned g = 0; g < work.gpus(); ++g) {
      check(cudaSetDevice(static_cast<int>(g)), "selecting a GPU");
      check(cudaStreamCreateWithFlags(&lanes_[g].stream, cudaStreamNonBlocking), "making a stream");
      check(cudaEventCreateWithFlags(&lanes_[g].turned, cudaEventDisableTiming), "making an event");
      check(cudaMalloc(&lanes_[g].sums, (3 + work.blocks()) * sizeof(double)), "room for sums");
    }
  }
  ~by_nccl() {
    for (auto& lane : lanes_) {
      cudaFree(lane.sums);
      cudaEventDestroy(lane.turned);
      cudaStreamDestroy(lane.stream);
    }
    for (auto comm : comms_) ncclCommDestroy(comm);
  }
  by_nccl(const by_nccl&) = delete;
  by_nccl& operator=(const by_nccl&) = delete;

  void run(unsigned steps) {
    const unsigned blocks = work_.blocks();
    each([&](unsigned g, lane& on) {
      norm_kernel<<<blocks, threads, 0, on.stream>>>(work_.of(g), on.sums + 3);
    });
    all_reduce(1);
    for (unsigned step = 0; step < steps; ++step) {
      each([&](unsigned g, lane& on) {
        for (const auto& other : lanes_)
          if (step > 0 && &other != &on) check(cudaStreamWaitEvent(on.stream, other.turned), "waiting for p");
        multiply_kernel<<<blocks, threads, 0, on.stream>>>(work_.of(g), on.sums + 3);
      });
      all_reduce(0);
      each([&](unsigned g, lane& on) {
        advance_kernel<<<blocks, threads, 0, on.stream>>>(work_.of(g), on.sums, on.sums + 3);
      });
      all_reduce(2);
      each([&](unsigned g, lane& on) {
        turn_kernel<<<blocks, threads, 0, on.stream>>>(work_.of(g), on.sums);
        check(cudaMemcpyAsync(on.sums + 1, on.sums + 2, sizeof(double), cudaMemcpyDeviceToDevice, on.stream),
              "keeping a sum");
        check(cudaEventRecord(on.turned, on.stream), "marking p");
      });
    }
    each([&](unsigned, lane& on) { check(cudaStreamSynchronize(on.stream), "solving"); });
    check(cudaGetLastError(), "solving");
  }

 private:
  struct lane {
    cudaStream_t stream = nullptr;
    cudaEvent_t turned = nullptr;
    double* sums = nullptr;  // pq, rr, the next rr, and then one of each block
  };
  template <class F>
  void each(F f) {
    for (unsigned g = 0; g < lanes_.size(); ++g) {
      check(cudaSetDevice(static_cast<int>(g)), "selecting a GPU");
      f(g, lanes_[g]);
    }
  }
  void all_reduce(unsigned which) {
    each([&](unsigned, lane& on) {
      add_up<<<1, threads, 0, on.stream>>>(on.sums + 3, work_.blocks(), on.sums + which);
    });
    check(ncclGroupStart(), "beginning a sum");
    for (unsigned g = 0; g < lanes_.size(); ++g)
      check(ncclAllReduce(lanes_[g].sums + which, lanes_[g].sums + which, 1, ncclDouble, ncclSum, comms_[g],
                          lanes_[g].stream),
            "adding up");
    check(ncclGroupEnd(), "adding up");
  }

  const plate& work_;
  std::vector<ncclComm_t> comms_;
  std::vector<lane> lanes_;
};
#endif

// The solution, and what a step took.
struct solved {
  std::vector<double> x;
  double us;
};
template <class Run>
solved timed(plate& work, const char* way, Run run) {
  const auto once = [&](unsigned steps) {
    work.begin();
    const auto begin = std::chrono::steady_clock::now();
    run(steps);
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  };
  once(10);
  const double us = once(work.size().steps) / work.size().steps;
  std::printf("%u GPU%s, %s: %.2f us a step\n", work.gpus(), work.gpus() == 1 ? "" : "s", way, us);
  return {work.solution(), us};
}

double furthest(const std::vector<double>& one, const std::vector<double>& other) {
  double most = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double apart = std::fabs(one[i] - other[i]);
    most = apart <= most ? most : apart;  // also where it is no number
  }
  return most;
}
int wrong = 0;
void expect(const char* what, double found, double most) {
  const bool good = found <= most;
  std::printf("%s: %.3g (at most %.3g)%s\n", what, found, most, good ? "" : ", wrong");
  if (!good) wrong = 1;
}

}  // namespace

int main(int count, char** words) try {
  const int gpus = std::min(gpus_asked_for(count, words), static_cast<int>(most_gpus));
  if (gpus == 0) return nothing_run;
  sizes size;
  if (count > 4)
    size = {static_cast<unsigned>(std::atoi(words[2])), static_cast<unsigned>(std::atoi(words[3])),
            static_cast<unsigned>(std::atoi(words[4]))};
  plate work(gpus, size);
  const auto riding =
      timed(work, "sums carried by the barrier", [&](unsigned steps) { work.run_in_kernel<carried>(steps); });
  const auto again =
      timed(work, "the same again", [&](unsigned steps) { work.run_in_kernel<carried>(steps); });
  const auto behind = timed(work, "sums behind the barrier",
                            [&](unsigned steps) { work.run_in_kernel<summed_behind_barrier>(steps); });
  const bool same = std::memcmp(riding.x.data(), again.x.data(), riding.x.size() * sizeof(double)) == 0;
  expect("runs with other bits", same ? 0 : 1, 0);
  expect("from the solution", furthest(riding.x, std::vector<double>(riding.x.size(), 1.0)), 1e-6);
  expect("carried and behind the barrier", furthest(riding.x, behind.x), 1e-9);
#if defined(MGSYNC_EXAMPLE_NCCL)
  by_nccl nccl(work);
  const auto between = timed(work, "NCCL between kernels", [&](unsigned steps) { nccl.run(steps); });
  expect("carried and by NCCL", furthest(riding.x, between.x), 1e-9);
#endif
  if (gpus > 1) {
    plate alone(1, size);
    const auto one = timed(alone, "sums carried by the barrier",
                           [&](unsigned steps) { alone.run_in_kernel<carried>(steps); });
    expect("on one GPU and on all", furthest(riding.x, one.x), 1e-9);
  }
  return wrong;
} catch (const std::exception& error) {
  std::fprintf(stderr, "conjugate_gradient: %s\n", error.what());
  return 1;
}
