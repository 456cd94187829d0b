// Threads that run one function at a time, each pinned to its own hardware thread. Idle ones sleep. The
// thread that calls run() may be one of them, as only that thread may call MPI.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace mgsync {

class worker_pool {
 public:
  enum class first_worker { own_thread, caller };

  // One thread per entry of `cpus`: the OS index to pin it to, negative: not pinned. Throws api_error when a
  // thread cannot start, when a pin is refused, or when sched_getaffinity does not confirm it. With
  // first_worker::caller, worker 0 is whoever calls run(): it is pinned for that time only.
  explicit worker_pool(std::vector<int> cpus, first_worker first = first_worker::own_thread);
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  unsigned size() const { return workers_; }
  // Calls work(i) on thread i, all at once. When all have returned, throws what the first of them threw that
  // threw anything.
  void run(const std::function<void(unsigned)>& work);

 private:
  void serve(unsigned index, int cpu);
  void call_work(unsigned index) noexcept;
  void end();
  void pin_caller() const;

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  std::uint64_t generation_ = 0;
  unsigned workers_;
  bool caller_works_;
  int caller_cpu_ = -1;
  unsigned busy_ = 0;
  bool stop_ = false;
  std::vector<std::string> failures_;       // to start
  std::vector<std::exception_ptr> thrown_;  // by the last work, by index
  std::vector<std::thread> threads_;
};

}  // namespace mgsync
