// Threads that run one function at a time, each pinned to its own hardware thread. Idle ones sleep.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mgsync {

class worker_pool {
 public:
  // One thread per entry of `cpus`: the OS index to pin it to, negative: not pinned. Throws api_error when a thread
  // cannot start, when a pin is refused, or when sched_getaffinity does not confirm it.
  explicit worker_pool(std::vector<int> cpus);
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  // Calls work(i) on thread i, all at once; returns when all have returned. `work` must not throw.
  void run(const std::function<void(unsigned)>& work);

 private:
  void serve(unsigned index, int cpu);
  void end();

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  std::uint64_t generation_ = 0;
  unsigned busy_ = 0;
  bool stop_ = false;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace mgsync
