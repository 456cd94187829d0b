// How the rounds of kernel-boundary are issued: one class per variant, driven by one host thread, or by
// one for every GPU.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "barriers/parts/round_loop/launch_rounds.hpp"

namespace mgsync {

class boundary_method {
 public:
  virtual ~boundary_method() = default;
  // Called before the clock starts, when this run's rounds are to be issued next.
  virtual void prepare(const run_request&) {}
  // The host threads that issue: 1, or the number of GPUs.
  virtual unsigned threads() const { return 1; }
  // Issues all rounds, and does not wait for them: one thread on all GPUs, or the thread of each GPU on that
  // one. `failed` becomes true when another thread could not go on: then neither can this one.
  virtual void issue(unsigned thread, std::uint32_t rounds, const std::atomic<bool>& failed) = 0;
};

// A barrier of these rounds, issued by this method, which was made for them. In gpu_kernel_boundary.cpp.
std::unique_ptr<barrier> make_boundary(const std::string& variant, std::unique_ptr<round_loop::launch_rounds>,
                                       std::unique_ptr<boundary_method>);

}  // namespace mgsync
