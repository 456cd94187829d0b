#include "src/studies/launch/kernels.cuh"

namespace mgsync::launch {
namespace {

template <unsigned Bytes>
struct payload {
  static_assert(Bytes <= sizeof(launch_arguments));
  unsigned char bytes[Bytes];
};

// Programmatic dependent launch: lets the next kernel start now, and waits until the one before has ended.
__device__ inline void take_turns() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__global__ void null() {}
template <unsigned Bytes>
__global__ void null_with(payload<Bytes>) {}
__global__ void null_in_turn() { take_turns(); }
template <unsigned Bytes>
__global__ void null_in_turn_with(payload<Bytes>) {
  take_turns();
}
__global__ void waits(waiting asked) { wait_here(asked); }
__global__ void waits_in_turn(waiting asked) {
  take_turns();
  wait_here(asked);
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

template <unsigned Bytes>
const void* null_of(bool in_turn) {
  return in_turn ? address_of(null_in_turn_with<Bytes>) : address_of(null_with<Bytes>);
}

}  // namespace

const void* waiting_kernel(bool in_turn) { return in_turn ? address_of(waits_in_turn) : address_of(waits); }

const void* null_kernel(bool in_turn, unsigned argument_bytes) {
  switch (argument_bytes) {
  case 8: return null_of<8>(in_turn);
  case 128: return null_of<128>(in_turn);
  case 4096: return null_of<4096>(in_turn);
  default: return in_turn ? address_of(null_in_turn) : address_of(null);
  }
}

}  // namespace mgsync::launch
