// Makes kernels of the entries of a catalogue: FORM<OP, LINKS>(arguments) for each of an entry's kernels,
// under the name by which the host launches it and the check of the machine code finds it. A source of probes
// includes this and its entries behind its operations.
#pragma once

#include "src/probes/probe_frame.hpp"

#define MGSYNC_PROBE(since, name, Op, form, kernels, ...)                                                    \
  MGSYNC_SINCE_##since(MGSYNC_KERNELS(, name, Op, form, MGSYNC_LIST kernels))
#define MGSYNC_PROBE_ALONE(since, name, Op, form, ...)                                                       \
  MGSYNC_SINCE_##since(MGSYNC_KERNEL(, name, Op, form, mgsync::probes::alone))
#define MGSYNC_CLUSTER_PROBE(blocks, name, Op, form, kernels, ...)                                           \
  MGSYNC_SINCE_90(MGSYNC_KERNELS(__cluster_dims__(blocks, 1, 1), name, Op, form, MGSYNC_LIST kernels))

#define MGSYNC_KERNEL(attributes, its_name, Op, form, links)                                                 \
  extern "C" __global__ void attributes its_name(const __grid_constant__ mgsync::probes::arguments a) {      \
    form<Op, links>(a);                                                                                      \
  }
// A kernel for each of a list, of up to 20. A macro does not expand within itself: each kernel leaves what
// makes the next one, for a further scan of the text.
#define MGSYNC_LIST(...) __VA_ARGS__
#define MGSYNC_SCANNED(...) __VA_ARGS__
#define MGSYNC_SCANNED_4(...) MGSYNC_SCANNED(MGSYNC_SCANNED(MGSYNC_SCANNED(MGSYNC_SCANNED(__VA_ARGS__))))
#define MGSYNC_SCANNED_16(...)                                                                               \
  MGSYNC_SCANNED_4(MGSYNC_SCANNED_4(MGSYNC_SCANNED_4(MGSYNC_SCANNED_4(__VA_ARGS__))))
#define MGSYNC_CALLED ()
#define MGSYNC_KERNELS(...) MGSYNC_SCANNED_16(MGSYNC_EACH_KERNEL(__VA_ARGS__))
#define MGSYNC_EACH_KERNEL(attributes, name, Op, form, links, ...)                                           \
  MGSYNC_KERNEL(attributes, name##_##links, Op, form, links)                                                 \
  __VA_OPT__(MGSYNC_NEXT_KERNEL MGSYNC_CALLED(attributes, name, Op, form, __VA_ARGS__))
#define MGSYNC_NEXT_KERNEL() MGSYNC_EACH_KERNEL

// Whether the architecture that is compiled for has what a kernel needs.
#define MGSYNC_SINCE_70(...) __VA_ARGS__
#define MGSYNC_SINCE_75(...) __VA_ARGS__
#if __CUDA_ARCH__ >= 800
#define MGSYNC_SINCE_80(...) __VA_ARGS__
#else
#define MGSYNC_SINCE_80(...)
#endif
#if __CUDA_ARCH__ >= 900
#define MGSYNC_SINCE_90(...) __VA_ARGS__
#else
#define MGSYNC_SINCE_90(...)
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define MGSYNC_SINCE_90a(...) __VA_ARGS__
#else
#define MGSYNC_SINCE_90a(...)
#endif
