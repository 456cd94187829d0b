#include "src/studies/pipeline/launch_timer.hpp"

#include "src/base/cuda.hpp"

namespace mgsync::pipeline {

namespace {

constexpr long long longest_hold_cycles = 4'000'000'000LL;

// Spins until the host sets the flag, but at most for some seconds.
__global__ void hold(const volatile int* released) {
  const long long begin = clock64();
  while (*released == 0 && clock64() - begin < longest_hold_cycles) __nanosleep(200);
}

cuda::event timing_event() {
  cudaEvent_t made = nullptr;
  cuda::check(cudaEventCreate(&made), "creating an event");
  return cuda::event(made);
}

}  // namespace

struct launch_timer::parts {
  cuda::stream stream = cuda::make_stream();
  cuda::event begin = timing_event();
  cuda::event end = timing_event();
  cuda::memory released = cuda::memory::on_host(sizeof(int));
};

launch_timer::launch_timer() : parts_(std::make_unique<parts>()) {}
launch_timer::~launch_timer() = default;
cudaStream_t launch_timer::stream() const { return parts_->stream.get(); }

std::vector<double> launch_timer::time_ns(const std::function<void(cudaStream_t)>& launch, int launches,
                                          int samples) {
  const cudaStream_t on = stream();
  auto* const released = parts_->released.as<volatile int>();
  std::vector<double> seen;
  for (int sample = 0; sample < samples; ++sample) {
    *released = 0;
    hold<<<1, 1, 0, on>>>(parts_->released.as<int>());
    cuda::check(cudaGetLastError(), "holding the stream back");
    launch(on);  // warm-up before the clock starts
    cuda::check(cudaEventRecord(parts_->begin.get(), on), "recording an event");
    for (int i = 0; i < launches; ++i) launch(on);
    cuda::check(cudaEventRecord(parts_->end.get(), on), "recording an event");
    *released = 1;
    cuda::check(cudaStreamSynchronize(on), "timing launches");
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, parts_->begin.get(), parts_->end.get()), "reading events");
    seen.push_back(static_cast<double>(ms) * 1e6 / launches);
  }
  return seen;
}

}  // namespace mgsync::pipeline
