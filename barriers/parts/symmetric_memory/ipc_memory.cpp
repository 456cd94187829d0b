#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "src/base/cuda.hpp"

namespace mgsync {

namespace {

// An allocation of its own, of whole 2 MiB pages: a handle opens all of the pages that it touches.
constexpr std::size_t page = std::size_t{2} << 20;

// A failed call that says "not here" rather than "broken".
std::optional<std::string> complaint(cudaError_t status, std::string_view action) {
  if (status == cudaSuccess) return std::nullopt;
  cudaGetLastError();
  return fmt::format("CUDA IPC: {}: {}", action, cudaGetErrorString(status));
}

class ipc_memory final : public gpu_memory {
 public:
  ipc_memory(const gpu_members& members, std::size_t bytes)
      : gpu_memory(bytes, members.local().size(), members.places.size()), members_(members), local_(members.local()) {}

  ~ipc_memory() override {
    for (const unsigned m : local_) {
      cudaSetDevice(members_.places[m].ordinal);
      cudaDeviceSynchronize();
    }
    for (std::size_t l = 0; l < local_.size(); ++l) {
      cudaSetDevice(members_.places[local_[l]].ordinal);
      for (unsigned m = 0; m < members_.places.size(); ++m)
        if (members_.places[m].process != members_.process && parts_[l][m] != nullptr) cudaIpcCloseMemHandle(parts_[l][m]);
    }
    meet_before_freeing(members_);
  }
  std::string_view provider() const override { return "cuda-ipc"; }

  // Collective: empty, or why it does not work.
  std::string share() {
    std::string handles, problem = open_peer_access(members_);
    for (const unsigned m : local_) {
      owners_.push_back(cuda::memory::on_gpu(members_.places[m].ordinal, (bytes_ + page - 1) / page * page));
      for (auto& seen : parts_) seen[m] = owners_.back().get();
      cudaIpcMemHandle_t handle{};
      const cuda::device_scope scope(members_.places[m].ordinal);
      if (const auto why = complaint(cudaIpcGetMemHandle(&handle, owners_.back().get()), "getting a handle"); why && problem.empty())
        problem = *why;
      handles.append(reinterpret_cast<const char*>(&handle), sizeof handle);
    }
    if (auto why = first_complaint(members_, problem); !why.empty()) return why;
    return first_complaint(members_, open_all(members_.exchange(handles)));
  }

 private:
  std::string open_all(const std::vector<std::string>& handles) {
    std::vector<std::size_t> next(handles.size(), 0);
    for (unsigned m = 0; m < members_.places.size(); ++m) {
      const auto from = static_cast<std::size_t>(members_.places[m].process);
      cudaIpcMemHandle_t handle{};
      std::memcpy(&handle, handles.at(from).data() + sizeof handle * next[from]++, sizeof handle);
      if (members_.places[m].process == members_.process) continue;
      // A mapping belongs to the GPU that opened it.
      for (std::size_t l = 0; l < local_.size(); ++l) {
        const cuda::device_scope scope(members_.places[local_[l]].ordinal);
        void* mapped = nullptr;
        if (const auto why = complaint(cudaIpcOpenMemHandle(&mapped, handle, cudaIpcMemLazyEnablePeerAccess),
                                       fmt::format("opening the memory of member {}", m)))
          return *why;
        parts_[l][m] = static_cast<std::byte*>(mapped);
      }
    }
    return {};
  }

  gpu_members members_;
  std::vector<unsigned> local_;
  std::vector<cuda::memory> owners_;
};

}  // namespace

gpu_allocation allocate_ipc_memory(const gpu_members& members, std::size_t bytes) {
  auto made = std::make_unique<ipc_memory>(members, bytes);
  if (auto reason = made->share(); !reason.empty()) return {nullptr, std::move(reason)};
  return {std::move(made), {}};
}

}  // namespace mgsync
