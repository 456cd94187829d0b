#include "src/studies/blocking/nccl_case.hpp"

#include <nccl.h>
#include <nccl_device.h>

#include "src/base/cuda.hpp"
#include "src/base/nccl.hpp"
#include "src/studies/blocking/gpu_board.cuh"

namespace mgsync::blocking {
namespace {

// Two barriers: the one under test, and another, to which only those come who wait elsewhere.
constexpr unsigned here = 0, elsewhere = 1;
using lsa_session = ncclLsaBarrierSession<ncclCoopCta>;

struct with_nccl {
  lsa_session& here;
  lsa_session& other;
  __device__ bool meet(bool) {
    here.sync(ncclCoopCta(), ::cuda::memory_order_acq_rel);
    return true;
  }
  __device__ void wait_elsewhere() { other.sync(ncclCoopCta(), ::cuda::memory_order_acq_rel); }
  __device__ void drop() {}
};

template <bool Predicated>
__global__ void case_of_nccl(gpu_board b, ncclDevComm communicator, unsigned gpu) {
  lsa_session one(ncclCoopCta(), communicator, ncclTeamTagLsa(), here),
      two(ncclCoopCta(), communicator, ncclTeamTagLsa(), elsewhere);
  with_nccl barrier{one, two};
  take_part<Predicated>(b, gpu, threadIdx.x == 0, barrier);
}

std::vector<ncclDevComm>& prepared() {
  static std::vector<ncclDevComm> all;  // never freed: the process ends with the case
  return all;
}

}  // namespace

std::string prepare_nccl(const std::vector<int>& gpus) {
  if (nccl::version() != NCCL_VERSION_CODE)
    return "built with NCCL " + nccl::version_text(NCCL_VERSION_CODE) + " and run with " +
           nccl::version_text(nccl::version()) + ": its device API needs the very same";
  std::vector<ncclComm_t> communicators(gpus.size());
  nccl::check(ncclCommInitAll(communicators.data(), static_cast<int>(gpus.size()), gpus.data()),
              "creating communicators");
  ncclDevCommRequirements needs{};
  needs.lsaBarrierCount = 2;
  prepared().resize(gpus.size());
  nccl::check(ncclGroupStart(), "beginning to create device communicators");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const cuda::device_scope scope(gpus[i]);
    nccl::check(ncclDevCommCreate(communicators[i], &needs, &prepared()[i]),
                "creating a device communicator");
  }
  nccl::check(ncclGroupEnd(), "creating device communicators");
  for (const auto& each : prepared())
    if (each.lsaSize != static_cast<int>(gpus.size()))
      return "NCCL does not find all these GPUs directly addressable";
  return {};
}

const void* kernel_of_nccl(bool predicated) {
  return predicated ? reinterpret_cast<const void*>(case_of_nccl<true>)
                    : reinterpret_cast<const void*>(case_of_nccl<false>);
}

void launch_nccl(const gpu_board& board, unsigned index, bool predicated, unsigned threads,
                 cudaStream_t stream) {
  auto b = board;
  auto communicator = prepared().at(index);
  void* arguments[] = {&b, &communicator, &index};
  cuda::check(cudaLaunchKernel(kernel_of_nccl(predicated), dim3(1), dim3(threads), arguments, 0, stream),
              "launching a case of NCCL");
}

}  // namespace mgsync::blocking
