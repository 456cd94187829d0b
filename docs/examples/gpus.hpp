// What every example needs of CUDA on the host: its calls checked, and how many GPUs to use.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

constexpr int nothing_run = 77;  // exit code where there are no GPUs, which ctest takes for a skip

// How many GPUs to use: as many as the first argument says, or all if it is missing or not positive. If there
// are none, prints a sentence and returns 0.
inline int gpus_asked_for(int count, char** words) {
  int here = 0;
  if (cudaGetDeviceCount(&here) != cudaSuccess || here == 0) {
    std::printf("no GPU here: nothing was run\n");
    return 0;
  }
  return count > 1 && std::atoi(words[1]) > 0 ? std::atoi(words[1]) : here;
}
