// What happens when inside a kernel: a recorder whose warps stamp events into shared memory, for a few cycles
// each.
//
//     __global__ void kernel(float* data, mgsync::warp_events<64>* recorded) {
//       __shared__ mgsync::event_buffer<4, 64> buffer;   // for four warps, the last 64 stamps of each
//       mgsync::event_recorder recorder(buffer);
//       recorder.begin(0);                               // range 0: the load
//       const float value = data[threadIdx.x];
//       recorder.end(0, __float_as_uint(value));         // once the value is there
//       recorder.stamp(1);                               // or a single moment
//       recorder.flush(recorded);                        // at the end: an element per warp of the grid
//     }
//
// The host reads mgsync::warp_events: cycles, SM, warp, id, how many stamps were lost; mgsync/timeline.hpp
// makes files of them that `mgsync show` and Perfetto draw. event_buffer<4, 64, true> also stamps the timer
// that all SMs of a GPU share; event_buffer<4, 64, false, false> is off, and its recorder leaves no code.
// Header-only: nothing but the CUDA toolkit, C++17, compute capability 7.0 and later; the values alone are
// host code too. docs/studies/timeline.md says what a stamp costs and how to draw what was recorded.
#pragma once

#include "barriers/parts/recorder/event_recorder.hpp"
