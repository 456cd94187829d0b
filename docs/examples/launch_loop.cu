// How much of a kernel's launch remains between kernels that wait, measured by plain loops of launches
// without mgsync: `mgsync study launch --quantity fused` must agree with it (docs/studies/launch.md). 16
// kernels that wait one unit are compared with one that waits 16: the difference is 15 launches. The program
// varies everything that might matter:
//   writes   what a kernel leaves behind: nothing, a sum by one thread, or the times of every block
//   order    16 launches and 1 taken in turns; or first all of one, then all of the other
//   stream   one for all runs; or a new one for every five
//   cleared  whether a word is cleared by a memset ahead of every run
// It also prints, from the blocks' own times, how long no block waits between two kernels.
// Usage: launch_loop [usual] [UNIT_US...]   (default 10 20 40; usual: a plain launch of 32 threads, as the
// study takes it)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace {

using clock_type = std::chrono::steady_clock;
constexpr unsigned launches = 16, runs = 40, runs_per_stream = 5;
enum class writes { nothing, sum, times };

struct span_of_block {
  unsigned long long begin, end;
};
struct orders {
  unsigned units, unit_ns;
  writes what;
  unsigned long long* sum;  // of what block 0 waited
  span_of_block* times;     // [blocks], of this launch
};

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

__device__ unsigned long long timer_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void waits(orders o) {
  if (threadIdx.x != 0) return;
  const auto begin = timer_ns(), last = begin + 1ull * o.units * o.unit_ns;
  auto now = begin;
  while (now < last) now = timer_ns();
  if (o.what == writes::sum && blockIdx.x == 0) atomicAdd(o.sum, now - begin);
  if (o.what == writes::times) o.times[blockIdx.x] = {begin, now};
}

struct way {
  bool cooperative, in_turns, new_streams, cleared;
  unsigned threads;
  writes what;
  unsigned unit_us;
};

class loop {
 public:
  explicit loop(int sms) : blocks_(static_cast<unsigned>(sms)) {
    check(cudaMalloc(&sum_, sizeof *sum_), "allocating");
    check(cudaMalloc(&times_, launches * blocks_ * sizeof *times_), "allocating");
  }

  // T(16 launches of one unit) less T(one of 16), over 15: the median and the middle half of the runs, in us.
  void print(const way& w) {
    std::vector<double> many, few, difference;
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    run(w, stream, launches, 1);
    run(w, stream, 1, launches);
    if (w.in_turns) {
      for (unsigned r = 0; r < runs; ++r) {
        if (w.new_streams && r % runs_per_stream == 0) {
          check(cudaStreamDestroy(stream), "giving up a stream");
          check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
          run(w, stream, launches, 1);
        }
        many.push_back(run(w, stream, launches, 1));
        few.push_back(run(w, stream, 1, launches));
      }
    } else {
      for (unsigned r = 0; r < runs; ++r) many.push_back(run(w, stream, launches, 1));
      for (unsigned r = 0; r < runs; ++r) few.push_back(run(w, stream, 1, launches));
    }
    double gap = -1;
    if (w.what == writes::times) run(w, stream, launches, 1), gap = between_kernels_us();
    check(cudaStreamDestroy(stream), "giving up a stream");
    for (unsigned r = 0; r < runs; ++r) difference.push_back((many[r] - few[r]) / (launches - 1));
    const char* const left[] = {"nothing", "sum", "times"};
    std::printf("%s,%u,%u,%s,%s,%s,%s,%.3f,%.3f,%.3f,%.3f,", w.cooperative ? "cooperative" : "traditional",
                w.threads, w.unit_us, left[static_cast<int>(w.what)], w.in_turns ? "in turns" : "apart",
                w.new_streams ? "new" : "one", w.cleared ? "yes" : "no",
                (share(many, .5) - share(few, .5)) / (launches - 1), share(difference, .5),
                share(difference, .25), share(difference, .75));
    gap < 0 ? std::printf("\n") : std::printf("%.3f\n", gap);
    std::fflush(stdout);
  }

 private:
  static double share(std::vector<double> v, double part) {
    std::sort(v.begin(), v.end());
    return v[static_cast<std::size_t>(part * static_cast<double>(v.size() - 1))];
  }

  double run(const way& w, cudaStream_t stream, unsigned count, unsigned units) {
    if (w.cleared) check(cudaMemsetAsync(sum_, 0, sizeof *sum_, stream), "clearing");
    check(cudaStreamSynchronize(stream), "waiting");
    const auto begin = clock_type::now();
    for (unsigned i = 0; i < count; ++i) {
      orders o{units, w.unit_us * 1000, w.what, sum_, times_ + i * blocks_};
      void* arguments[] = {&o};
      const auto* const kernel = reinterpret_cast<const void*>(waits);
      check(w.cooperative
                ? cudaLaunchCooperativeKernel(kernel, dim3(blocks_), dim3(w.threads), arguments, 0, stream)
                : cudaLaunchKernel(kernel, dim3(blocks_), dim3(w.threads), arguments, 0, stream),
            "launching");
    }
    check(cudaStreamSynchronize(stream), "waiting");
    return std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
  }

  // The time from the last block's end to the first block of the next kernel, in us: the median over the
  // launches of the last run.
  double between_kernels_us() const {
    std::vector<span_of_block> all(launches * blocks_);
    check(cudaMemcpy(all.data(), times_, all.size() * sizeof(span_of_block), cudaMemcpyDeviceToHost),
          "reading");
    std::vector<double> gaps;
    for (unsigned i = 1; i < launches; ++i) {
      unsigned long long last = 0, first = ~0ull;
      for (unsigned b = 0; b < blocks_; ++b) {
        last = std::max(last, all[(i - 1) * blocks_ + b].end);
        first = std::min(first, all[i * blocks_ + b].begin);
      }
      gaps.push_back((static_cast<double>(first) - static_cast<double>(last)) * 1e-3);
    }
    return share(gaps, .5);
  }

  unsigned blocks_;
  unsigned long long* sum_ = nullptr;
  span_of_block* times_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) try {
  int gpus = 0, sms = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::printf("no GPU here: nothing was run\n");
    return 77;
  }
  std::vector<unsigned> units;
  const bool usual = argc > 1 && std::string(argv[1]) == "usual";
  for (int i = usual ? 2 : 1; i < argc; ++i) units.push_back(static_cast<unsigned>(std::atoi(argv[i])));
  if (units.empty()) units = {10, 20, 40};
  for (const unsigned u : units)
    if (u < 1 || u > 320) throw std::runtime_error("a unit lasts 1 to 320 us");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
  loop all(sms);
  std::printf("launch,threads,unit us,writes,order,stream,cleared,overhead of medians us,median of "
              "differences us,low quarter,high quarter,between kernels us\n");
  if (usual) {
    for (const unsigned u : units) all.print({false, true, true, false, 32, writes::nothing, u});
    return 0;
  }
  for (const bool cooperative : {false, true})
    for (const unsigned threads : {32u, 1024u})
      for (const writes what : {writes::nothing, writes::sum, writes::times})
        for (const auto& [in_turns, new_streams] : {std::pair{false, false}, {true, false}, {true, true}})
          for (const bool cleared : {false, true})
            for (const unsigned u : units)
              all.print({cooperative, in_turns, new_streams, cleared, threads, what, u});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "launch_loop: %s\n", error.what());
  return 1;
}
