#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace {

// An allocation of its own, of whole 2 MiB pages: a handle opens all of the pages that it touches.
constexpr std::size_t page = std::size_t{2} << 20;

// The message of a failed call, which means that IPC does not work here rather than that something is broken.
// Clears the runtime's last error.
std::optional<std::string> complaint(cudaError_t status, std::string_view action) {
  if (status == cudaSuccess) return std::nullopt;
  cudaGetLastError();
  return filled("CUDA IPC: {}: {}", action, cudaGetErrorString(status));
}

// What a process tells the others of a member's memory: its handle, and where the part begins in it.
struct shared_part {
  cudaIpcMemHandle_t handle{};
  std::uint64_t shift = 0;
};

class ipc_memory final : public gpu_memory {
 public:
  ipc_memory(const gpu_members& members, std::size_t bytes, given_back when)
      : gpu_memory(bytes, members.local().size(), members.places.size()),
        members_(members),
        local_(members.local()),
        shifted_(when == given_back::when_the_process_ends) {}

  ~ipc_memory() override {
    wait_for_gpus(members_);
    for (const auto& [ordinal, mapped] : opened_) try {
        const cuda::device_scope scope(ordinal);
        cuda::check(cudaIpcCloseMemHandle(mapped), "closing another process's memory");
      } catch (const std::exception& error) {
        std::fprintf(stderr, "mgsync: freeing GPU memory: %s\n", error.what());
      }
    // What another process may still address stays until this one ends.
    if (!meet_before_freeing(members_, exceptions_then_))
      for (auto& mine : owners_) mine.abandon();
  }
  std::string_view provider() const override { return "cuda-ipc"; }

  // Collective: empty, or why it does not work.
  std::string share() {
    std::string given;
    if (auto why = first_complaint(members_, complaint_of([&] { return allocate(given); })); !why.empty())
      return why;
    const auto all = members_.exchange(given);
    return first_complaint(members_, complaint_of([&] { return open_all(all); }));
  }

 private:
  std::string allocate(std::string& given) {
    std::string problem = open_peer_access(members_);
    for (const unsigned m : local_) {
      owners_.push_back(cuda::memory::on_gpu(
          members_.places[m].ordinal, (bytes_ + (shifted_ ? most_shift : 0) + page - 1) / page * page));
      shared_part mine;
      mine.shift = shifted_ ? next_shift(members_.process) : 0;
      for (auto& seen : parts_) seen[m] = owners_.back().get() + mine.shift;
      const cuda::device_scope scope(members_.places[m].ordinal);
      if (const auto why =
              complaint(cudaIpcGetMemHandle(&mine.handle, owners_.back().get()), "getting a handle");
          why && problem.empty())
        problem = *why;
      given.append(reinterpret_cast<const char*>(&mine), sizeof mine);
    }
    return problem;
  }

  std::string open_all(const std::vector<std::string>& given) {
    std::vector<std::size_t> next(given.size(), 0);
    for (unsigned m = 0; m < members_.places.size(); ++m) {
      const auto from = static_cast<std::size_t>(members_.places[m].process);
      shared_part theirs;
      const std::size_t at = sizeof theirs * next.at(from)++;
      if (given[from].size() < at + sizeof theirs)
        return "CUDA IPC: the exchange between processes returned too few bytes";
      std::memcpy(&theirs, given[from].data() + at, sizeof theirs);
      if (members_.places[m].process == members_.process) continue;
      // A mapping belongs to the GPU that opened it.
      for (std::size_t l = 0; l < local_.size(); ++l) {
        const cuda::device_scope scope(members_.places[local_[l]].ordinal);
        void* mapped = nullptr;
        if (const auto why =
                complaint(cudaIpcOpenMemHandle(&mapped, theirs.handle, cudaIpcMemLazyEnablePeerAccess),
                          filled("opening the memory of member {}", m)))
          return *why;
        opened_.emplace_back(members_.places[local_[l]].ordinal, mapped);
        parts_[l][m] = static_cast<std::byte*>(mapped) + theirs.shift;
      }
    }
    return {};
  }

  gpu_members members_;
  std::vector<unsigned> local_;
  bool shifted_;
  std::vector<cuda::memory> owners_;
  int exceptions_then_ = std::uncaught_exceptions();
  std::vector<std::pair<int, void*>> opened_;  // the GPU that opened it, and where it begins
};

}  // namespace

gpu_allocation allocate_ipc_memory(const gpu_members& members, std::size_t bytes, given_back when) {
  auto made = std::make_unique<ipc_memory>(members, bytes, when);
  if (auto reason = made->share(); !reason.empty()) return {nullptr, std::move(reason)};
  return {std::move(made), {}};
}

}  // namespace mgsync
