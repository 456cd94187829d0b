#!/usr/bin/env python3
"""torch's symmetric-memory barrier beside mgsync's implementation of the same form (barriers/peers/cas_mailbox.hpp): one block and a
kernel each, in CUDA graphs. What they differ by says whether mgsync's is a fair one.

Usage: torchrun --nproc-per-node 2 torch_mailbox.py SOURCES
  SOURCES  the folder of mgsync's sources; the kernel is compiled by NVRTC as the program runs
"""
import ctypes
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from torch_barrier import Failed, Kernel, compiled  # noqa: E402

KERNEL = r"""
#include "barriers/parts/algorithm/cuda_operations.hpp"
#include "barriers/peers/cas_mailbox.hpp"
using namespace mgsync;
// Waits end after a second: what has not come by then does not come.
class policy : public algorithm::cuda_operations<algorithm::ptx::scope::system> {
 public:
  __device__ explicit policy(unsigned* gave_up) : gave_up_(gave_up), ends_(algorithm::ptx::global_time_ns() + 1000000000ull) {}
  __device__ void sync() const { __syncwarp(); }
  __device__ unsigned sync_and(unsigned ok) const { __syncwarp(); return ok; }
  __device__ bool in_team() const { return true; }
  template <class Condition>
  __device__ bool wait_lane(Condition holds) const {
    while (!holds())
      if (algorithm::ptx::global_time_ns() > ends_) { atomicAdd(gave_up_, 1u); return false; }
    return true;
  }
  __device__ bool wait_local(unsigned& w, unsigned epoch) const {
    return wait_lane([&] { return algorithm::reached(load_acquire_local(w), epoch); });
  }
 private:
  unsigned* gave_up_;
  unsigned long long ends_;
};
extern "C" __global__ void meet(const __grid_constant__ algorithm::cuda_lines lines, unsigned rank, unsigned ranks, unsigned* gave_up) {
  policy p(gave_up);
  peers::cas_mailbox::arrive_and_wait(p, lines, algorithm::position{rank, ranks, 0, 1}, 0);
}
"""


class PlainKernel(Kernel):
    """Launched as torch launches its own, not cooperatively."""

    def launch(self, blocks, threads, stream, *arguments):
        addresses = (ctypes.c_void_p * len(arguments))(*(ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in arguments))
        self.must(self.driver.cuLaunchKernel(self.function, blocks, 1, 1, threads, 1, 1, 0, ctypes.c_void_p(stream), addresses, None),
                  "launching a kernel")


FLAGS = 4096  # bytes of a rank's mailboxes: five lines are used
MOST = 16     # ranks: addresses in the kernel's parameters


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric

    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if ranks > MOST:
        raise Failed(f"{ranks} ranks; at most {MOST} are accepted")
    torch.cuda.set_device(rank)
    dist.init_process_group("cpu:gloo,cuda:nccl", rank=rank, world_size=ranks)
    on_hosts = dist.new_group(backend="gloo")
    memory = symmetric.empty(FLAGS, dtype=torch.uint8, device=f"cuda:{rank}")
    seen = symmetric.rendezvous(memory, dist.group.WORLD)
    memory.zero_()
    torch.cuda.synchronize()
    dist.barrier(group=on_hosts)
    about = torch.cuda.get_device_properties(rank)
    kernel = PlainKernel(compiled(KERNEL, sys.argv[1], f"sm_{about.major}{about.minor}"), "meet")
    gave_up = torch.zeros(1, dtype=torch.int32, device=f"cuda:{rank}")
    lines = (ctypes.c_void_p * MOST)(*seen.buffer_ptrs)

    def ours():
        kernel.launch(1, 32, torch.cuda.current_stream().cuda_stream, lines, ctypes.c_uint(rank), ctypes.c_uint(ranks),
                      ctypes.c_void_p(gave_up.data_ptr()))

    def graph_of(work, count):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(count):
                work()
        return graph

    def microseconds(graph):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        dist.barrier(group=on_hosts)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e3

    few, many = 100, 600
    graphs = {name: (graph_of(work, few), graph_of(work, many))
              for name, work in (("torch's", lambda: seen.barrier(channel=0)), ("mgsync's", ours))}
    times = {name: [] for name in graphs}
    for turn in range(16):  # of which the first warms up
        for name, (short, long) in graphs.items():
            took = (microseconds(long) - microseconds(short)) / (many - few)
            if turn > 0:
                times[name].append(took)
    if int(gave_up.item()) != 0:
        raise Failed(f"rank {rank}: a wait of mgsync's form took over a second")
    if rank == 0:
        median = {name: sorted(all)[len(all) // 2] for name, all in times.items()}
        for name, all in times.items():
            print(f"{name} {median[name]:.3f} us a barrier, {min(all):.3f} to {max(all):.3f} in {len(all)} turns")
        ratio = median["mgsync's"] / median["torch's"]
        print(f"{ranks} GPUs, a kernel of one block each in a graph: mgsync's takes {ratio:.3f} of torch's; "
              + ("within 5 %" if abs(ratio - 1) <= 0.05 else "more than 5 % apart: it is not the same code"))
    dist.barrier(group=on_hosts)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
