#!/usr/bin/env python3
"""mgsync's barrier in a PyTorch program without an extension: its flags lie in torch's symmetric memory, the kernel is compiled
by NVRTC as the program runs, and is launched on torch's current stream, eagerly and in a CUDA graph. Says what a barrier takes
beside torch's own.

Usage: torchrun --nproc-per-node 2 torch_barrier.py LIBMGSYNC.SO INCLUDE [BACKEND]
  LIBMGSYNC.SO  from cmake -S barriers/library -B build -DBUILD_SHARED_LIBS=ON && cmake --build build
  INCLUDE       its headers: build/include
  BACKEND       what torch takes its symmetric memory from: CUDA (the default) or NVSHMEM
"""
import ctypes
import glob
import os
import sys

KERNEL = r"""
#include <mgsync/multi_grid.cuh>
// In every round each GPU writes the round's number, and reads its neighbour's behind the barrier.
extern "C" __global__ void rounds(const __grid_constant__ mgsync::multi_grid_handle handle, volatile unsigned* mine,
                                  const volatile unsigned* neighbours, unsigned count, unsigned* wrong) {
  auto grids = mgsync::this_multi_grid(handle);
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  const unsigned begin = mine[2];
  for (unsigned round = begin + 1; round != begin + 1 + count; ++round) {
    if (first) mine[round % 2] = round;
    if (!grids.sync()) {
      if (first) atomicAdd(wrong, 1u);
      return;
    }
    if (threadIdx.x == 0 && neighbours[round % 2] != round) atomicAdd(wrong, 1u);
  }
  if (!grids.sync()) return;  // nobody reads the beginning any more
  if (first) mine[2] = begin + count;
}
"""
GATHER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class Failed(RuntimeError):
    pass


class Group:
    """A mgsync_multi_grid over memory that is symmetric already: one GPU of this process, and those of others.

    parts: the addresses of all GPUs' parts, of `size` bytes each, as this process reaches them. gather(bytes) gives the bytes of
    all processes, in their order."""

    def __init__(self, library, parts, size, gpu, process, processes, gather, timeout_s=30.0):
        self.library = ctypes.CDLL(library)
        self.library.mgsync_last_error.restype = ctypes.c_char_p
        for name in ("mgsync_multi_grid_handle_size", "mgsync_multi_grid_flag_bytes"):
            getattr(self.library, name).restype = ctypes.c_size_t

        def all_gather(mine, everybodys, size, _):
            try:
                together = b"".join(gather(ctypes.string_at(mine, size)))
                ctypes.memmove(everybodys, together, len(together))
                return 0
            except Exception as error:  # nothing may pass through C
                print(f"gather: {error}", file=sys.stderr)
                return 1

        self.gather = GATHER(all_gather)  # kept: C calls it as long as the group lives
        self.group = ctypes.c_void_p()
        addresses = (ctypes.c_void_p * len(parts))(*parts)
        gpus = (ctypes.c_int * 1)(gpu)
        self.check(self.library.mgsync_multi_grid_create_over(
            ctypes.byref(self.group), addresses, len(parts), ctypes.c_size_t(size), gpus, 1, process, processes, self.gather, None,
            ctypes.c_double(timeout_s)))

    def check(self, code):
        if code != 0:
            raise Failed(self.library.mgsync_last_error().decode())

    def handle(self, blocks):
        """The bytes that a kernel of so many blocks per GPU takes first."""
        self.check(self.library.mgsync_multi_grid_resize(self.group, ctypes.c_uint(blocks)))
        size = self.library.mgsync_multi_grid_handle_size()
        room = ctypes.create_string_buffer(size)
        self.check(self.library.mgsync_multi_grid_handle(self.group, ctypes.c_uint(blocks), 0, room, ctypes.c_size_t(size)))
        return room

    def raise_if_lost(self):
        self.check(self.library.mgsync_multi_grid_check(self.group))

    def close(self):
        self.check(self.library.mgsync_multi_grid_destroy(self.group))
        self.group = ctypes.c_void_p()


def flag_bytes(library, gpus, blocks):
    loaded = ctypes.CDLL(library)
    loaded.mgsync_multi_grid_flag_bytes.restype = ctypes.c_size_t
    return 256 + loaded.mgsync_multi_grid_flag_bytes(ctypes.c_uint(gpus), ctypes.c_uint(blocks))


def nvrtc():
    folders = ["", "/usr/local/cuda/lib64/"] + [f"{path}/nvidia/*/lib/" for path in sys.path]
    for name in [found for folder in folders for found in ([folder + "libnvrtc.so"] if not folder else sorted(
            found for found in glob.glob(folder + "libnvrtc.so*") if "builtins" not in found and ".alt." not in found))]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise Failed("no libnvrtc.so was found: it comes with the CUDA toolkit and with torch")


def compiled(source, include, architecture):
    """Machine code for `architecture` ("sm_90")."""
    lib = nvrtc()
    program = ctypes.c_void_p()
    if lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"rounds.cu", 0, None, None) != 0:
        raise Failed("NVRTC refused the source")
    words = [f"-arch={architecture}", "-std=c++17", f"-I{include}"]
    options = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
    failed = lib.nvrtcCompileProgram(program, len(words), options)
    size = ctypes.c_size_t()
    if failed:
        lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetProgramLog(program, log)
        raise Failed(log.value.decode())
    lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetCUBIN(program, code)
    return code


class Kernel:
    """A kernel of machine code, launched cooperatively."""

    def __init__(self, code, name):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.code, self.module, self.function = code, ctypes.c_void_p(), ctypes.c_void_p()
        self.must(self.driver.cuModuleLoadData(ctypes.byref(self.module), code), "loading a kernel")
        self.must(self.driver.cuModuleGetFunction(ctypes.byref(self.function), self.module, name.encode()), "finding a kernel")

    @staticmethod
    def must(status, what):
        if status != 0:
            raise Failed(f"CUDA error {status} while {what}")

    def launch(self, blocks, threads, stream, *arguments):
        addresses = (ctypes.c_void_p * len(arguments))(*(ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in arguments))
        self.must(self.driver.cuLaunchCooperativeKernel(self.function, blocks, 1, 1, threads, 1, 1, 0, ctypes.c_void_p(stream), addresses),
                  "launching a kernel")


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["CUDA"], ["NVSHMEM"]):
        sys.exit(__doc__.strip())
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric

    library, include = sys.argv[1:3]
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    dist.init_process_group("cpu:gloo,cuda:nccl", rank=rank, world_size=ranks)

    def gather(mine):
        everybodys = [None] * ranks
        dist.all_gather_object(everybodys, mine, group=on_hosts)
        return everybodys

    on_hosts = dist.new_group(backend="gloo")
    about = torch.cuda.get_device_properties(rank)
    blocks = about.multi_processor_count
    room = flag_bytes(library, ranks, blocks)
    if sys.argv[3:]:
        symmetric.set_backend(sys.argv[3])
    memory = symmetric.empty(room + 256, dtype=torch.uint8, device=f"cuda:{rank}")
    seen = symmetric.rendezvous(memory, dist.group.WORLD)
    memory.zero_()
    torch.cuda.synchronize()
    dist.barrier()
    group = Group(library, list(seen.buffer_ptrs), room, rank, rank, ranks, gather)
    handle = group.handle(blocks)
    kernel = Kernel(compiled(KERNEL, include, f"sm_{about.major}{about.minor}"), "rounds")
    wrong = torch.zeros(1, dtype=torch.int32, device=f"cuda:{rank}")
    words = [ctypes.c_void_p(address + room) for address in seen.buffer_ptrs]

    def launch(count):
        kernel.launch(blocks, 32, torch.cuda.current_stream().cuda_stream, handle, words[rank], words[(rank + 1) % ranks],
                      ctypes.c_uint(count), ctypes.c_void_p(wrong.data_ptr()))

    def microseconds(work):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        dist.barrier(group=on_hosts)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e3

    def median(values):
        return sorted(values)[len(values) // 2]

    few, many = 1000, 11000
    launch(few)
    ours = median([(microseconds(lambda: launch(many)) - microseconds(lambda: launch(few))) / (many - few) for _ in range(9)])

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(10)
    for _ in range(100):
        graph.replay()
    torch.cuda.synchronize()

    def torchs(count):
        for _ in range(count):
            seen.barrier(channel=0)

    torchs(100)
    own = median([(microseconds(lambda: torchs(1100)) - microseconds(lambda: torchs(100))) / 1000 for _ in range(9)])
    group.raise_if_lost()
    if int(wrong.item()) != 0:
        raise Failed(f"rank {rank}: {int(wrong.item())} values were wrong")
    if rank == 0:
        print(f"{ranks} GPUs, {blocks} blocks of 32 threads on each: mgsync's barrier inside a kernel {ours:.2f} us; "
              f"torch's symmetric-memory barrier, of one block and a kernel each, {own:.2f} us; 100 replays of a graph passed")
    dist.barrier(group=on_hosts)
    group.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
