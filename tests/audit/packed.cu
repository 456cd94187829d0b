// A kernel with a fault, as small as can be, of which nvcc makes compressed fat binaries: packed_lz4.fatbin
// and packed_zstd.fatbin (make_code.sh).
extern "C" __global__ void packed(unsigned* flags, float* data) {
  data[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.relaxed.sys.global.u32 [%0], 1;" ::"l"(flags) : "memory");
    unsigned seen = 0;
    while (seen == 0)
      asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flags + 32) : "memory");
  }
  __syncthreads();
  data[threadIdx.x + 64] = data[threadIdx.x + 32];
}
