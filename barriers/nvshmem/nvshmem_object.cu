// The shared object of NVSHMEM's barriers (nvshmem_object.hpp): NVSHMEM's barrier between our local arrival
// and release, in the device round loop. Compiled on its own, with -rdc=true (cmake/nvshmem.cmake). C++17.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdlib>
#include <cstring>

#include "barriers/nvshmem/nvshmem_object.hpp"
#include "barriers/parts/algorithm/local_arrival.hpp"
#include "barriers/parts/round_loop/cuda_passes.hpp"
#include "barriers/parts/round_loop/device_rounds.hpp"

namespace {

using namespace mgsync;
using form = nvshmem_object::form;

// The blocks of a GPU arrive at a counter, the last one meets the other GPUs, and lets the others go.
template <form By>
class pass {
 public:
  static constexpr bool bounded = false;  // NVSHMEM's waits have no time-out
  static constexpr bool carries_sum = false;
  using arguments = algorithm::cuda_lines;

  __device__ pass(const arguments& lines, const round_loop::device_run& run)
      : policy_(round_loop::limits_of(run)), lines_(lines), at_(round_loop::position_in(run)) {}
  __device__ bool operator()(std::uint32_t epoch) {
    policy_.sync();
    bool last = policy_.in_team() && algorithm::arrive_locally(policy_, lines_, at_, epoch);
    if constexpr (By == form::block) {
      last = __syncthreads_or(last) != 0;
      if (last) nvshmemx_barrier_all_block();
    } else {
      if (last) nvshmemx_barrier_all_warp();
    }
    const bool ok = !policy_.in_team() || algorithm::release_locally(policy_, lines_, at_, epoch, last);
    return policy_.sync_and(ok) != 0;
  }

 private:
  algorithm::cuda_policy<algorithm::ptx::scope::system> policy_;
  const arguments& lines_;
  algorithm::position at_;
};

template <form By>
const void* kernel_by(nvshmem_object::kernel which) {
  return which == nvshmem_object::kernel::timed
             ? reinterpret_cast<const void*>(round_loop::timed_rounds<pass<By>>)
             : reinterpret_cast<const void*>(round_loop::checked_rounds<pass<By>>);
}
const void* kernel_of(form by, nvshmem_object::kernel which) {
  return by == form::warp ? kernel_by<form::warp>(which) : kernel_by<form::block>(which);
}

int make_id(void* id) {
  nvshmemx_uniqueid_t made = NVSHMEMX_UNIQUEID_INITIALIZER;
  const int status = nvshmemx_get_uniqueid(&made);
  std::memcpy(id, &made, sizeof made);
  return status;
}

// Of one node: its sockets, and no network. What the user has set stays.
int start(const void* id, int number, int count) {
  setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
  setenv("NVSHMEM_DISABLE_NVLS", "1", 0);
  setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
  nvshmemx_uniqueid_t given;
  std::memcpy(&given, id, sizeof given);
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (const int status = nvshmemx_set_attr_uniqueid_args(number, count, &given, &attributes); status != 0)
    return status;
  return nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
}

int launch(form by, nvshmem_object::kernel which, unsigned grid, unsigned threads, void** arguments,
           void* stream) {
  return cudaLaunchCooperativeKernel(kernel_of(by, which), dim3(grid), dim3(threads), arguments, 0,
                                     static_cast<cudaStream_t>(stream));
}

int resident(form by, nvshmem_object::kernel which, unsigned threads, int* blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel_of(by, which),
                                                       static_cast<int>(threads), 0);
}

#define MGSYNC_TEXT_OF(x) #x
#define MGSYNC_TEXT(x) MGSYNC_TEXT_OF(x)
static_assert(sizeof(algorithm::cuda_lines) == sizeof(nvshmem_lines));

constexpr nvshmem_object told{nvshmem_object::this_magic,
                              sizeof(round_loop::device_run),
                              sizeof(nvshmem_lines),
                              sizeof(nvshmemx_uniqueid_t),
                              "NVSHMEM " MGSYNC_TEXT(NVSHMEM_VENDOR_MAJOR_VERSION) "." MGSYNC_TEXT(
                                  NVSHMEM_VENDOR_MINOR_VERSION) "." MGSYNC_TEXT(NVSHMEM_VENDOR_PATCH_VERSION),
                              make_id,
                              start,
                              launch,
                              resident};

}  // namespace

extern "C" __attribute__((visibility("default"))) const nvshmem_object* mgsync_nvshmem_object() {
  return &told;
}
