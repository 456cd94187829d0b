#include "src/base/worker_pool.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "src/base/errors.hpp"
#include "src/base/pinning.hpp"

namespace mgsync {

namespace {

// Gives the calling thread back the CPUs that it had.
class affinity_kept {
 public:
  affinity_kept() : before_(allowed_cpus()) {}
  ~affinity_kept() {
    if (!before_.empty()) restrict_calling_thread(before_);
  }
  affinity_kept(const affinity_kept&) = delete;
  affinity_kept& operator=(const affinity_kept&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace

worker_pool::worker_pool(std::vector<int> cpus, first_worker first)
    : workers_(static_cast<unsigned>(cpus.size())),
      caller_works_(first == first_worker::caller && !cpus.empty()),
      thrown_(cpus.size()) {
  if (caller_works_) {
    caller_cpu_ = cpus.front();
    const affinity_kept kept;
    pin_caller();
  }
  const unsigned own = caller_works_ ? 1 : 0;  // the first worker with a thread of its own
  busy_ = workers_ - own;
  try {
    for (unsigned i = own; i < cpus.size(); ++i)
      threads_.emplace_back([this, i, cpu = cpus[i]] { serve(i, cpu); });
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

void worker_pool::pin_caller() const {
  const std::string failure = caller_cpu_ < 0 ? std::string() : pin_calling_thread(caller_cpu_);
  if (!failure.empty()) throw api_error("system", failure, "pinning the calling thread");
}

void worker_pool::run(const std::function<void(unsigned)>& work) {
  std::optional<affinity_kept> kept;
  if (caller_works_ && caller_cpu_ >= 0) {
    kept.emplace();
    pin_caller();
  }
  std::unique_lock lock(mutex_);
  work_ = &work;
  busy_ = static_cast<unsigned>(threads_.size());
  ++generation_;
  start_.notify_all();
  if (caller_works_) {
    lock.unlock();
    call_work(0);
    lock.lock();
  }
  done_.wait(lock, [&] { return busy_ == 0; });
  work_ = nullptr;
  for (auto& thrown : thrown_)
    if (thrown) {
      auto first = std::move(thrown);
      std::fill(thrown_.begin(), thrown_.end(), nullptr);
      std::rethrow_exception(std::move(first));
    }
}

void worker_pool::call_work(unsigned index) noexcept {
  try {
    (*work_)(index);
  } catch (...) { thrown_[index] = std::current_exception(); }
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
    call_work(index);
    lock.lock();
  }
}

}  // namespace mgsync
