// A barrier made by the hosts: every GPU's thread launches a kernel, waits for it, and meets the other
// threads.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barriers/parts/round_loop/launch_rounds.hpp"

namespace mgsync::round_loop {

class synchronized_rounds : public barrier {
 public:
  // `what`: the name in the watchdog's messages.
  synchronized_rounds(std::string what, std::unique_ptr<launch_rounds>);
  trial run(const run_request&) override;

 protected:
  using member_work = std::function<void(unsigned local, const std::function<void()>& meet)>;
  // Runs the work on one pinned thread per local GPU; meet() is the barrier of the threads of all GPUs.
  virtual void on_all(const member_work&) = 0;
  // To be called in on_all(): the run throws `why` once all threads have finished.
  void fail(unsigned local, std::exception_ptr why) { failures_[local] = std::move(why); }

  std::unique_ptr<launch_rounds> rounds_;

 private:
  void one(unsigned local, std::uint32_t round);
  void attempt(unsigned local, const std::function<void()>&);

  std::string what_;
  std::vector<std::exception_ptr> failures_;  // by local GPU
};

}  // namespace mgsync::round_loop
