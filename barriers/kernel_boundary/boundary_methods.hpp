// How the rounds of kernel-boundary are issued: one class per variant, all driven by one host thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "barriers/parts/round_loop/launch_rounds.hpp"

namespace mgsync {

class boundary_method {
 public:
  virtual ~boundary_method() = default;
  // Before the clock starts: this run's rounds will be issued next.
  virtual void prepare(const run_request&) {}
  // Issues all rounds on all GPUs; does not wait for them.
  virtual void issue(std::uint32_t rounds) = 0;
};

// The method of this variant, or why there is none.
struct boundary_method_creation {
  std::unique_ptr<boundary_method> method;
  std::string reason;
};
boundary_method_creation make_boundary_method(std::string_view variant, round_loop::launch_rounds&);

}  // namespace mgsync
