// One axis of time for the blocks of several GPUs: the global timer that the SMs of a GPU share, and between
// GPUs messages through their memory (docs/method.md, "Time across processors").
#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "src/base/cuda.hpp"
#include "src/base/errors.hpp"
#include "src/studies/timeline/clock_offset.hpp"
#include "src/studies/timeline/common_clock.hpp"
#include "src/studies/timeline/gpu_clock_kernels.hpp"

namespace mgsync::timelines {

namespace {

constexpr unsigned messages = messages_between_gpus;

void wait_for_stream(cudaStream_t stream) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    const auto status = cudaStreamQuery(stream);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) cuda::check(status, "comparing the timers of GPUs");
    if (std::chrono::steady_clock::now() > deadline)
      throw timeout_error("the timers of the GPUs were not compared within 10 s");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

class gpu_clock final : public common_clock {
 public:
  explicit gpu_clock(const topology::group& group) {
    for (const auto& m : group.members) {
      const cuda::device_scope scope(m.gpu);
      states_.push_back({m.gpu, cuda::make_stream(), cuda::memory::in_pool(m.gpu, sizeof(std::uint32_t)),
                         cuda::memory::on_gpu(m.gpu, messages * sizeof(exchange)),
                         cuda::memory::on_gpu(m.gpu, sizeof(std::uint64_t))});
    }
    const cuda::device_scope scope(states_.front().gpu);
    auto* const out = states_.front().done.as<std::uint64_t>();
    launch_timer_step(out, states_.front().stream.get());
    cuda::check(cudaGetLastError(), "launching the probe of the timer");
    wait_for_stream(states_.front().stream.get());
    std::uint64_t step = 0;
    cuda::check(cudaMemcpy(&step, out, sizeof step, cudaMemcpyDeviceToHost), "reading the timer's step");
    step_ns_ = static_cast<double>(step);
  }

  bool before_run(std::string& reason) override {
    offsets_ = measure(reason);
    return !offsets_.empty();
  }
  bool after_run(std::string& reason) override {
    const auto after = measure(reason);
    if (after.size() != offsets_.size()) return false;
    for (std::size_t i = 0; i < after.size(); ++i) offsets_[i] = over_run(offsets_[i], after[i]);
    return true;
  }
  double at_ns(const worker_id& worker, const moment& when) const override {
    return static_cast<double>(static_cast<std::int64_t>(when.timer_ns - zero_ns_)) -
           offsets_.at(worker.member).ticks();
  }
  double uncertainty_ns() const override {
    std::vector<double> bounds;
    for (const auto& o : offsets_) bounds.push_back(o.bound());
    std::sort(bounds.begin(), bounds.end(), std::greater<>());
    return step_ns_ + (bounds.size() > 1 ? bounds[0] + bounds[1] : 0);
  }
  std::string description() const override {
    return fmt::format(
        "the GPU's timer, which steps by {:.0f} ns{}", step_ns_,
        states_.size() > 1 ? "; between GPUs messages sent back and forth before and after each run" : "");
  }

 private:
  struct gpu_state {
    int gpu;
    cuda::stream stream;
    cuda::memory word;  // this GPU polls it, and the other GPU writes it
    cuda::memory out;
    cuda::memory done;
  };

  // The offset of every GPU's timer to the first one's; nothing, and the reason, where they cannot be
  // compared.
  std::vector<clock_offset> measure(std::string& reason) {
    std::vector<clock_offset> all{same_clock};
    for (std::size_t i = 1; i < states_.size(); ++i) {
      const auto found = offset_to(states_[i]);
      if (!found) {
        reason = fmt::format("the timers of GPUs {} and {} cannot be compared: messages did not arrive, or "
                             "they do not run alike",
                             states_.front().gpu, states_[i].gpu);
        return {};
      }
      all.push_back(*found);
    }
    if (zero_ns_ == 0) zero_ns_ = latest_ns();
    return all;
  }

  // The zero of the common axis, a recent moment, so that times are small numbers: a reading of the first
  // GPU's timer, or of the host's clock where there is one GPU only.
  std::uint64_t latest_ns() {
    exchange one{};
    if (states_.size() > 1)
      cuda::check(cudaMemcpy(&one, states_.front().out.get(), sizeof one, cudaMemcpyDeviceToHost),
                  "reading a timer");
    return one.asked != 0 ? one.asked
                          : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                                       std::chrono::nanoseconds(1));
  }

  void start(gpu_state& at, const gpu_state& with, bool asks) {
    const cuda::device_scope scope(at.gpu);
    cuda::check(cudaMemsetAsync(at.done.get(), 0, at.done.bytes(), at.stream.get()), "clearing");
    launch_messages(at.word.as<std::uint32_t>(), with.word.as<std::uint32_t>(), asks, at.out.as<exchange>(),
                    at.done.as<std::uint32_t>(), at.stream.get());
    cuda::check(cudaGetLastError(), "launching an exchange of messages");
  }

  std::optional<clock_offset> offset_to(gpu_state& other) {
    auto& first = states_.front();
    for (auto* at : {&first, &other}) {
      const cuda::device_scope scope(at->gpu);
      cuda::check(cudaMemset(at->word.get(), 0, sizeof(std::uint32_t)), "clearing");
      cuda::check(cudaDeviceSynchronize(), "clearing");
    }
    start(other, first, false);
    start(first, other, true);
    wait_for_stream(first.stream.get());
    wait_for_stream(other.stream.get());
    std::vector<exchange> seen(messages), answers(messages);
    std::uint32_t done = 0;
    cuda::check(cudaMemcpy(&done, first.done.get(), sizeof done, cudaMemcpyDeviceToHost),
                "reading an exchange of messages");
    if (done == 0) return std::nullopt;
    cuda::check(cudaMemcpy(seen.data(), first.out.get(), messages * sizeof(exchange), cudaMemcpyDeviceToHost),
                "reading an exchange of messages");
    cuda::check(
        cudaMemcpy(answers.data(), other.out.get(), messages * sizeof(exchange), cudaMemcpyDeviceToHost),
        "reading an exchange of messages");
    for (unsigned k = 0; k < messages; ++k) seen[k].answered = answers[k].answered;
    return offset_of(seen, step_ns_);
  }

  std::vector<gpu_state> states_;
  std::vector<clock_offset> offsets_;
  std::uint64_t zero_ns_ = 0;
  double step_ns_ = 32;
};

}  // namespace

std::unique_ptr<common_clock> make_gpu_clock(const topology::group& group) {
  return std::make_unique<gpu_clock>(group);
}

}  // namespace mgsync::timelines
