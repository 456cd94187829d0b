#include "src/base/worker_pool.hpp"

#include <system_error>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"

namespace mgsync {

worker_pool::worker_pool(std::vector<int> cpus) {
  busy_ = static_cast<unsigned>(cpus.size());
  try {
    for (unsigned i = 0; i < cpus.size(); ++i) threads_.emplace_back([this, i, cpu = cpus[i]] { serve(i, cpu); });
  } catch (const std::system_error& error) {
    end();
    throw api_error("system", error.what(),
                    fmt::format("starting worker thread {} of {}", threads_.size() + 1, cpus.size()));
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  if (failures_.empty()) return;
  lock.unlock();
  end();
  throw api_error("system", failures_.front(), "starting the worker threads");
}

worker_pool::~worker_pool() { end(); }

void worker_pool::end() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (auto& t : threads_) t.join();
}

void worker_pool::run(const std::function<void(unsigned)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  busy_ = size();
  ++generation_;
  start_.notify_all();
  done_.wait(lock, [&] { return busy_ == 0; });
  work_ = nullptr;
}

void worker_pool::serve(unsigned index, int cpu) {
  const std::string failure = cpu < 0 ? std::string() : pin_calling_thread(cpu);
  std::unique_lock lock(mutex_);
  if (!failure.empty()) failures_.push_back(failure);
  std::uint64_t seen = generation_;
  for (;;) {
    if (--busy_ == 0) done_.notify_one();
    start_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    lock.unlock();
    (*work_)(index);
    lock.lock();
  }
}

}  // namespace mgsync
