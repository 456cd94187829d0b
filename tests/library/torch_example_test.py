#!/usr/bin/env python3
"""docs/examples/torch_barrier.py and torch_mailbox.py as far as they go without torch and without a GPU: the library is loaded by
name, the kernels are compiled by NVRTC, and a group over memory that a fixture made is asked for, which says that there is no GPU
(or, with one, runs).

Usage: torch_example_test.py EXAMPLE LIBMGSYNC.A INCLUDE CXX CUDA_LIBRARIES
"""
import ctypes
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

example, archive, include, compiler, cuda = sys.argv[1:]
spec = importlib.util.spec_from_file_location("torch_barrier", example)
torch_barrier = importlib.util.module_from_spec(spec)
spec.loader.exec_module(torch_barrier)
folder = tempfile.TemporaryDirectory()
library = str(pathlib.Path(folder.name) / "libmgsync.so")
subprocess.run([compiler, "-shared", "-o", library, "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", f"-L{cuda}", "-lcudart",
                f"-Wl,-rpath,{cuda}"], check=True)

size = torch_barrier.flag_bytes(library, 2, 132)
assert 4096 < size < 8 << 20, size
for architecture in ("sm_80", "sm_90"):
    assert len(torch_barrier.compiled(torch_barrier.KERNEL, include, architecture)) > 4096
try:
    torch_barrier.compiled("no kernel", include, "sm_90")
    sys.exit("what does not compile was compiled")
except torch_barrier.Failed as error:
    assert "rounds.cu" in str(error), error

fixture = ctypes.create_string_buffer(size + 256)
part = (ctypes.addressof(fixture) + 255) // 256 * 256
said = "nothing"
try:
    torch_barrier.Group(library, [part], size, 99, 0, 1, lambda mine: [mine]).close()
except torch_barrier.Failed as error:
    said = str(error)
assert "there is no GPU 99" in said, said
said = "nothing"
try:
    torch_barrier.Group(library, [part], size, 0, 3, 2, lambda mine: [mine])
except torch_barrier.Failed as error:
    said = str(error)
assert said == "process 3 of 2", said
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(example).parent))
import torch_mailbox  # noqa: E402
sources = str(pathlib.Path(example).parents[2])
for architecture in ("sm_80", "sm_90"):
    assert len(torch_mailbox.compiled(torch_mailbox.KERNEL, sources, architecture)) > 4096
print("the library loads, the kernels compile, and what is wrong is a sentence")
