#!/usr/bin/env python3
"""What each form of the library's barrier costs a kernel, as the compiler says: `library_forms costs` of docs/draw.py.

    python3 docs/library_forms.py NVCC > docs/results/host2/library-forms.csv     # at a clean commit
    python3 docs/library_forms.py --check NVCC     # exit code 1 where that compiler says something else, 77 where the file is of another

The kernels are those of tests/gpu/library_forms.cu, compiled for compute capability 9.0 with -O3.
"""
import csv
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "docs/results/host2/library-forms.csv"
TITLES = {
    "sync": "`sync()`",
    "sync_twice": "two calls of it",
    "sync_three_times": "three calls of it",
    "sync_with_a_word": "`sync()`, with a word of shared memory",
    "sync_of_a_copy": "`sync()`, the handle no `const __grid_constant__`",
    "sync_by_reference": "`sync()`, the group passed by reference",
    "sync_of_a_copy_by_reference": "`sync()`, both",
    "sync_none": "`sync<order::none>()`",
    "sync_acquire": "`sync<order::acquire>()`",
    "sync_release": "`sync<order::release>()`",
    "sync_async": "`sync<order::acq_rel, proxy::async>()`",
    "sync_mixed": "`sync_mixed(mine)`",
    "arrive_and_wait": "`barrier_arrive()`, `barrier_wait()`",
    "arrive_and_look": "`barrier_arrive()`, `barrier_try_wait()`",
    "one_warp_sync": "`one_warp`: `sync()`",
    "some_warps_sync": "`some_warps`: `sync()`",
    "sync_reduce_32": "`sync_reduce()` of 32 bits",
    "sync_reduce_64": "`sync_reduce()` of 64 bits",
    "one_warp_reduce_32": "`one_warp`: `sync_reduce()` of 32 bits",
    "sync_ballot": "`sync_ballot()`",
    "many_gpus_sync": "`this_multi_grid_of_many`: `sync()`",
    "traced_sync": "`this_traced_multi_grid`: `sync()`",
}
COSTS = ["registers", "shared", "local", "code"]


def code_of(cubin):
    """{kernel: bytes of machine code}, from the section headers of the ELF file."""
    data = pathlib.Path(cubin).read_bytes()
    at, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    text = sections[names][4]
    named = {data[text + s[0]:data.index(b"\0", text + s[0])].decode(): s[5] for s in sections}
    return {name.removeprefix(".text."): length for name, length in named.items() if name.startswith(".text.")}


def said_of(text):
    """{kernel: registers and bytes}, from what ptxas -v says."""
    found = {}
    for part in text.split("Compiling entry function '")[1:]:
        kernel = part[:part.index("'")]
        used = re.search(r"Used (\d+) registers[^\n]*", part)
        shared = re.search(r"(\d+) bytes smem", used.group())
        local = re.search(r"(\d+) bytes stack frame", part[:used.start()])
        found[kernel] = {"registers": int(used.group(1)), "shared": int(shared.group(1)) if shared else 0, "local": int(local.group(1))}
    return found


def compiled(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder, "forms.cubin")
        said = subprocess.run([nvcc, "-std=c++17", "-O3", "-arch=sm_90", "-Xptxas", "-v", "-cubin", "-o", cubin, "-I", ROOT,
                               "-I", ROOT / "barriers/library/include", ROOT / "tests/gpu/library_forms.cu"],
                              check=True, capture_output=True, text=True).stderr
        costs, code = said_of(said), code_of(cubin)
    return {kernel: {**costs[kernel], "code": code[kernel]} for kernel in TITLES}


def version_of(nvcc):
    return re.search(r"V([\d.]+)", subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout).group(1)


def kept():
    with FILE.open(newline="") as file:
        return {row["form"]: row for row in csv.DictReader(file)}


def table():
    rows = kept()
    first = rows["sync"]
    lines = [f"nvcc {first['nvcc']}, compute capability 9.0, commit {first['commit']}; bytes, but registers of a thread", "",
             "| in a loop of nothing else | registers | shared memory | local memory | machine code |", "|---|---:|---:|---:|---:|"]
    for form, title in TITLES.items():
        lines.append(f"| {title} | " + " | ".join(rows[form][cost] for cost in COSTS) + " |")
    return "\n".join(lines)


TABLES = {"costs": table}


def alike(cost, one, other):
    """The length of machine code varies with every change: a tenth of it is let pass."""
    return abs(one - other) <= (other / 10 if cost == "code" else 0)


def different(file, now):
    return [f"{form}: {cost} {file[form][cost]} in the file, {now[form][cost]} now"
            for form in TITLES for cost in COSTS if not alike(cost, now[form][cost], int(file[form][cost]))]


def check(nvcc):
    file, version = kept(), version_of(nvcc)
    if file["sync"]["nvcc"] != version:
        print(f"{FILE.relative_to(ROOT)} is of nvcc {file['sync']['nvcc']}, and this one is {version}")
        return 77
    now = compiled(nvcc)
    changed = {**now, "sync": {**now["sync"], "registers": now["sync"]["registers"] + 1}}
    assert different(file, changed) != different(file, now), "a changed number is not noticed"
    if wrong := different(file, now):
        print("\n".join(wrong))
        print(f"python3 docs/library_forms.py {nvcc} > {FILE.relative_to(ROOT)} writes it anew, and docs/draw.py the page")
        return 1
    return 0


def write(nvcc):
    git = ["git", "-C", ROOT]
    if subprocess.run([*git, "status", "--porcelain", "--", "barriers", "tests/gpu", "src"], check=True, capture_output=True, text=True).stdout:
        sys.exit("docs/library_forms.py: the sources differ from their commit, which the file names: commit them first")
    commit = subprocess.run([*git, "rev-parse", "--short=8", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    print(",".join(["form", *COSTS, "nvcc", "commit"]))
    for form, costs in compiled(nvcc).items():
        print(",".join([form, *(str(costs[cost]) for cost in COSTS), version_of(nvcc), commit]))


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["--check"] and len(words) == 2:
        sys.exit(check(words[1]))
    if len(words) != 1 or words[0].startswith("-"):
        sys.exit(__doc__)
    write(words[0])
