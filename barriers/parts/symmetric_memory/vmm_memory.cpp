#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "barriers/parts/symmetric_memory/between_processes.hpp"
#include "barriers/parts/symmetric_memory/descriptor_passing.hpp"
#include "src/base/cuda.hpp"
#include "src/base/cuda_driver.hpp"
#include "src/base/filled.hpp"

namespace mgsync {

namespace {

using cuda::driver_function;

// The driver's calls for virtual memory management: physical allocations that are mapped to reserved
// addresses.
struct vmm_calls {
  decltype(&cuMemCreate) create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  decltype(&cuMemRelease) release = driver_function<decltype(&cuMemRelease)>("cuMemRelease");
  decltype(&cuMemGetAllocationGranularity) granularity =
      driver_function<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity");
  decltype(&cuMemExportToShareableHandle) export_handle =
      driver_function<decltype(&cuMemExportToShareableHandle)>("cuMemExportToShareableHandle");
  decltype(&cuMemImportFromShareableHandle) import_handle =
      driver_function<decltype(&cuMemImportFromShareableHandle)>("cuMemImportFromShareableHandle");
  decltype(&cuMemAddressReserve) reserve =
      driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  decltype(&cuMemAddressFree) free_addresses =
      driver_function<decltype(&cuMemAddressFree)>("cuMemAddressFree");
  decltype(&cuMemMap) map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  decltype(&cuMemUnmap) unmap = driver_function<decltype(&cuMemUnmap)>("cuMemUnmap");
  decltype(&cuMemSetAccess) set_access = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");

  static const vmm_calls& get() {
    static const vmm_calls found;
    return found;
  }
};

std::string complaint(CUresult status, std::string_view action) {
  return status == CUDA_SUCCESS ? std::string() : filled("VMM: {}: {}", action, cuda::driver_error(status));
}

// One allocation on one GPU, of this process or imported.
struct physical_traits {
  using type = CUmemGenericAllocationHandle;
  static type none() { return 0; }
  static void close(type handle) noexcept { vmm_calls::get().release(handle); }
};
using physical = unique_handle<physical_traits>;

class vmm_memory final : public gpu_memory {
 public:
  vmm_memory(const gpu_members& members, std::size_t bytes, CUmemAllocationHandleType type, given_back when)
      : gpu_memory(bytes, members.local().size(), members.places.size()),
        members_(members),
        local_(members.local()),
        type_(type),
        shifted_(when == given_back::when_the_process_ends),
        shifts_(members.places.size(), 0) {}

  ~vmm_memory() override {
    wait_for_gpus(members_);
    // Not collective: memory that other processes have mapped stays until they unmap it.
    for (const auto address : mapped_) tell(vmm_calls::get().unmap(address, size_), "unmapping");
    for (const auto address : reserved_)
      tell(vmm_calls::get().free_addresses(address, size_), "giving addresses back");
  }
  std::string_view provider() const override {
    return type_ == CU_MEM_HANDLE_TYPE_FABRIC ? "vmm-fabric" : "vmm-fd";
  }

  // Collective: empty, or why it does not work.
  std::string share() {
    const auto open_and_create = [&] {
      const auto problem = open_peer_access(members_);
      return problem.empty() ? create() : problem;
    };
    if (auto why = first_complaint(members_, complaint_of(open_and_create)); !why.empty()) return why;
    if (auto why = first_complaint(members_, shifted_ ? agree_on_shifts() : ""); !why.empty()) return why;
    std::vector<physical> all(members_.places.size());
    if (auto why = first_complaint(members_,
                                   type_ == CU_MEM_HANDLE_TYPE_FABRIC ? by_fabric(all) : by_descriptor(all));
        !why.empty())
      return why;
    return first_complaint(members_, complaint_of([&] { return place_all(all); }));
  }

 private:
  // Where each member's part begins in its memory, which its own process decides. Collective.
  std::string agree_on_shifts() {
    std::string mine;
    for (std::size_t l = 0; l < local_.size(); ++l) {
      const std::uint64_t shift = next_shift(members_.process);
      mine.append(reinterpret_cast<const char*>(&shift), sizeof shift);
    }
    const auto given = members_.exchange(mine);
    std::vector<std::size_t> next(given.size(), 0);
    for (std::size_t m = 0; m < shifts_.size(); ++m) {
      const auto from = static_cast<std::size_t>(members_.places[m].process);
      const std::size_t at = sizeof(std::uint64_t) * next.at(from)++;
      if (given[from].size() < at + sizeof(std::uint64_t))
        return "VMM: the exchange between processes returned too few bytes";
      std::memcpy(&shifts_[m], given[from].data() + at, sizeof(std::uint64_t));
    }
    return {};
  }

  CUmemAllocationProp properties(unsigned member) const {
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.location.id = members_.places[member].ordinal;  // the driver counts GPUs as the runtime does
    wanted.requestedHandleTypes = type_;
    return wanted;
  }

  std::string create() {
    for (const unsigned m : local_) {
      const cuda::device_scope scope(members_.places[m].ordinal);
      cuda::check(cudaFree(nullptr), filled("starting CUDA on GPU {}", members_.places[m].ordinal));
      const auto wanted = properties(m);
      std::size_t grain = 0;
      if (auto why =
              complaint(vmm_calls::get().granularity(&grain, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                        "asking for the granularity");
          !why.empty())
        return why;
      size_ = (bytes_ + (shifted_ ? most_shift : 0) + grain - 1) / grain * grain;
      CUmemGenericAllocationHandle made = 0;
      if (auto why = complaint(vmm_calls::get().create(&made, size_, &wanted, 0), "allocating"); !why.empty())
        return why;
      own_.emplace_back(made);
    }
    return {};
  }

  std::string by_fabric(std::vector<physical>& all) {
    std::string handles, problem;
    for (const auto& p : own_) {
      CUmemFabricHandle handle{};
      if (problem.empty())
        problem = complaint(vmm_calls::get().export_handle(&handle, p.get(), type_, 0), "exporting");
      handles.append(reinterpret_cast<const char*>(&handle), sizeof handle);
    }
    if (auto why = first_complaint(members_, problem); !why.empty()) return why;
    const auto theirs = members_.exchange(handles);
    return import_all(all, [&](std::size_t process, std::size_t nth, CUmemGenericAllocationHandle* made) {
      CUmemFabricHandle handle{};
      if (theirs.at(process).size() < (nth + 1) * sizeof handle) return CUDA_ERROR_INVALID_HANDLE;
      std::memcpy(&handle, theirs[process].data() + nth * sizeof handle, sizeof handle);
      return vmm_calls::get().import_handle(made, &handle, type_);
    });
  }

  std::string by_descriptor(std::vector<physical>& all) {
    std::vector<unique_descriptor> exported;
    std::vector<int> numbers;
    std::string problem;
    for (const auto& p : own_) {
      int fd = -1;
      if (problem.empty())
        problem = complaint(vmm_calls::get().export_handle(&fd, p.get(), type_, 0), "exporting");
      exported.emplace_back(fd);
      numbers.push_back(fd);
    }
    if (auto why = first_complaint(members_, problem); !why.empty()) return why;
    const auto passed = pass_descriptors(members_, numbers);
    if (!passed.reason.empty()) return passed.reason;
    return import_all(all, [&](std::size_t process, std::size_t nth, CUmemGenericAllocationHandle* made) {
      const auto fd = static_cast<std::uintptr_t>(passed.by_process.at(process).at(nth).get());
      return vmm_calls::get().import_handle(made, reinterpret_cast<void*>(fd), type_);
    });
  }

  // `import(process, nth, &handle)` imports the memory of the nth member of that process.
  template <class F>
  std::string import_all(std::vector<physical>& all, F import) {
    return complaint_of([&] { return import_each(all, import); });
  }
  template <class F>
  std::string import_each(std::vector<physical>& all, F import) {
    std::vector<std::size_t> next(members_.places.size() + 1, 0);
    std::size_t mine = 0;
    for (unsigned m = 0; m < members_.places.size(); ++m) {
      const auto process = static_cast<std::size_t>(members_.places[m].process);
      if (next.size() <= process) next.resize(process + 1, 0);
      const std::size_t nth = next[process]++;
      if (members_.places[m].process == members_.process) {
        all[m] = std::move(own_[mine++]);
        continue;
      }
      CUmemGenericAllocationHandle made = 0;
      if (auto why = complaint(import(process, nth, &made), filled("importing the memory of member {}", m));
          !why.empty())
        return why;
      all[m] = physical(made);
    }
    return {};
  }

  std::string place_all(const std::vector<physical>& all) {
    std::string problem;
    for (unsigned m = 0; m < all.size() && problem.empty(); ++m) problem = place(m, all[m].get());
    if (problem.empty()) clear_own();
    return problem;
  }

  // Maps a member's memory at one address for all local GPUs. The mapping keeps the memory, so the handle may
  // be released.
  std::string place(unsigned member, CUmemGenericAllocationHandle handle) {
    const auto& calls = vmm_calls::get();
    CUdeviceptr address = 0;
    if (auto why = complaint(calls.reserve(&address, size_, 0, 0, 0), "reserving addresses"); !why.empty())
      return why;
    reserved_.push_back(address);
    if (auto why = complaint(calls.map(address, size_, 0, handle, 0), filled("mapping member {}", member));
        !why.empty())
      return why;
    mapped_.push_back(address);
    std::vector<CUmemAccessDesc> access;
    for (const unsigned m : local_) {
      CUmemAccessDesc one{};
      one.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      one.location.id = members_.places[m].ordinal;
      one.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      access.push_back(one);
    }
    if (auto why = complaint(calls.set_access(address, size_, access.data(), access.size()),
                             filled("opening the memory of member {} to this process's GPUs", member));
        !why.empty())
      return why;
    for (auto& seen : parts_) seen[member] = reinterpret_cast<std::byte*>(address) + shifts_[member];
    return {};
  }

  void clear_own() const {
    for (std::size_t l = 0; l < local_.size(); ++l) {
      const cuda::device_scope scope(members_.places[local_[l]].ordinal);
      const auto own = cuda::make_stream();
      std::byte* const begin = parts_[l][local_[l]] - shifts_[local_[l]];
      cuda::check(cudaMemsetAsync(begin, 0, size_, own.get()), "zeroing GPU memory");
      cuda::check(cudaStreamSynchronize(own.get()), "zeroing GPU memory");
    }
  }

  static void tell(CUresult status, const char* action) noexcept {
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED)
      std::fprintf(stderr, "mgsync: VMM: %s: error %d\n", action, static_cast<int>(status));
  }

  gpu_members members_;
  std::vector<unsigned> local_;
  CUmemAllocationHandleType type_;
  bool shifted_;
  std::vector<std::uint64_t> shifts_;
  std::size_t size_ = 0;
  std::vector<physical> own_;
  std::vector<CUdeviceptr> reserved_;
  std::vector<CUdeviceptr> mapped_;
};

gpu_allocation allocate(const gpu_members& members, std::size_t bytes, CUmemAllocationHandleType type,
                        given_back when) {
  auto made = std::make_unique<vmm_memory>(members, bytes, type, when);
  if (auto reason = made->share(); !reason.empty()) return {nullptr, std::move(reason)};
  return {std::move(made), {}};
}

// Whether every GPU of every process has fabric handles to give.
bool fabric_everywhere(const gpu_members& members) {
  const auto lacking = [&]() -> std::string {
    const auto ask = driver_function<decltype(&cuDeviceGetAttribute)>("cuDeviceGetAttribute");
    for (const unsigned m : members.local()) {
      int supported = 0;
      if (ask(&supported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, members.places[m].ordinal) !=
              CUDA_SUCCESS ||
          supported == 0)
        return "no fabric handles";
    }
    return {};
  };
  return first_complaint(members, complaint_of(lacking)).empty();
}

}  // namespace

gpu_allocation allocate_vmm_memory(const gpu_members& members, std::size_t bytes, given_back when) {
  // A driver that supports fabric handles may still refuse them, for lack of an IMEX channel.
  if (fabric_everywhere(members))
    if (auto made = allocate(members, bytes, CU_MEM_HANDLE_TYPE_FABRIC, when); made.memory) return made;
  return allocate(members, bytes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, when);
}

}  // namespace mgsync
