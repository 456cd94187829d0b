#include "barriers/parts/symmetric_memory/gpu_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/base/errors.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace {

// All members in this process: device memory that its GPUs may address.
class peer_access_memory final : public gpu_memory {
 public:
  peer_access_memory(const gpu_members& members, std::size_t bytes, given_back when)
      : gpu_memory(bytes, members.places.size(), members.places.size()), members_(members) {
    for (std::size_t m = 0; m < members.places.size(); ++m) {
      const int ordinal = members.places[m].ordinal;
      const bool pooled = when == given_back::when_the_process_ends;
      owners_.push_back(pooled ? cuda::memory::in_pool(ordinal, bytes + most_shift)
                               : cuda::memory::on_gpu(ordinal, bytes));
      std::byte* const part = owners_.back().get() + (pooled ? next_shift(members.process) : 0);
      for (auto& seen : parts_) seen[m] = part;
    }
  }
  ~peer_access_memory() override { wait_for_gpus(members_); }
  std::string_view provider() const override { return "peer-access"; }

 private:
  gpu_members members_;
  std::vector<cuda::memory> owners_;
};

// By the driver, because a failing call of the runtime would change the last error that the caller sees.
void open_to(int from, int to) {
  static const auto current = cuda::driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent");
  static const auto enable = cuda::driver_function<decltype(&cuCtxEnablePeerAccess)>("cuCtxEnablePeerAccess");
  CUcontext context = nullptr;
  {
    const cuda::device_scope scope(to);
    cuda::check(cudaFree(nullptr), filled("starting CUDA on GPU {}", to));
    cuda::check_driver(current(&context), filled("asking for the context of GPU {}", to));
  }
  const cuda::device_scope scope(from);
  cuda::check(cudaFree(nullptr), filled("starting CUDA on GPU {}", from));
  const auto status = enable(context, 0);
  if (status != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
    cuda::check_driver(status, filled("opening the memory of GPU {} to GPU {}", to, from));
}

}  // namespace

// Lines spread evenly (Weyl's sequence), another stretch of it for every process.
std::size_t next_shift(int process) {
  static std::atomic<std::uint64_t> count = 0;
  constexpr std::size_t line = 128;
  const std::uint64_t turn = ++count + (static_cast<std::uint64_t>(process) << 20);
  return static_cast<std::size_t>((turn * 0x9e3779b97f4a7c15u) >> 32) % (most_shift / line) * line;
}

std::vector<unsigned> gpu_members::local() const {
  std::vector<unsigned> mine;
  for (unsigned m = 0; m < places.size(); ++m)
    if (places[m].process == process) mine.push_back(m);
  return mine;
}

bool gpu_members::one_process() const {
  return std::all_of(places.begin(), places.end(),
                     [&](const process_gpu& p) { return p.process == process; });
}

std::string open_peer_access(const gpu_members& members) {
  for (const unsigned from : members.local())
    for (const unsigned to : members.local()) {
      const int f = members.places[from].ordinal, t = members.places[to].ordinal;
      if (f == t) continue;
      int possible = 0;
      cuda::check(cudaDeviceCanAccessPeer(&possible, f, t), filled("asking GPU {} about GPU {}", f, t));
      if (possible == 0) return filled("GPU {} cannot address the memory of GPU {}", f, t);
      open_to(f, t);
    }
  return {};
}

std::string first_complaint(const gpu_members& members, const std::string& mine) {
  if (members.one_process()) return mine;
  for (auto& theirs : members.exchange(mine))
    if (!theirs.empty()) return std::move(theirs);
  return {};
}

void all_or_none(const gpu_members& members, const std::function<void()>& f) {
  if (members.one_process()) return f();
  constexpr char usage = 'u', timeout = 't', other = 'o';
  std::exception_ptr thrown;
  std::string mine;  // of which kind, and the text
  const auto tell = [&](char kind, const char* what) {
    thrown = std::current_exception();
    mine = filled("{}process {}: {}", kind, members.process, what);
  };
  try {
    f();
  } catch (const usage_error& error) { tell(usage, error.what()); } catch (const timeout_error& error) {
    tell(timeout, error.what());
  } catch (const std::exception& error) { tell(other, error.what()); }
  const std::string first = first_complaint(members, mine);
  if (thrown) std::rethrow_exception(thrown);
  if (first.empty()) return;
  const std::string why = first.substr(1);
  if (first.front() == usage) throw usage_error(why);
  if (first.front() == timeout) throw timeout_error(why);
  throw api_error("mgsync", why, "doing together what another process could not do");
}

void wait_for_gpus(const gpu_members& members) noexcept {
  for (const unsigned m : members.local()) try {
      const cuda::device_scope scope(members.places[m].ordinal);
      cuda::check(cudaDeviceSynchronize(), filled("waiting for GPU {}", members.places[m].ordinal));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "mgsync: freeing GPU memory: %s\n", error.what());
    }
}

bool meet_before_freeing(const gpu_members& members, int exceptions_then) noexcept {
  if (members.one_process()) return true;
  if (std::uncaught_exceptions() > exceptions_then) return false;
  try {
    members.exchange({});
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mgsync: freeing GPU memory that other processes address: %s\n", error.what());
    return false;
  }
}

gpu_allocation allocate_gpu_memory(const gpu_members& members, std::size_t bytes, peer_memory wanted,
                                   given_back when) {
  if (members.one_process()) {
    if (auto reason = open_peer_access(members); !reason.empty()) return {nullptr, std::move(reason)};
    return {std::make_unique<peer_access_memory>(members, bytes, when), {}};
  }
  if (wanted == peer_memory::vmm) return allocate_vmm_memory(members, bytes, when);
  auto by_ipc = allocate_ipc_memory(members, bytes, when);
  if (by_ipc.memory || wanted == peer_memory::ipc) return by_ipc;
  auto by_vmm = allocate_vmm_memory(members, bytes, when);
  if (!by_vmm.memory) by_vmm.reason = by_ipc.reason + "; " + by_vmm.reason;
  return by_vmm;
}

}  // namespace mgsync
