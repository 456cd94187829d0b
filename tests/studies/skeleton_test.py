#!/usr/bin/env python3
"""What `mgsync study pipeline --skeleton` prints: written where it is asked for, compiled, and run.

Usage: skeleton_test.py MGSYNC text            the command and its files
       skeleton_test.py MGSYNC compile [NVCC]  by the command that stands in it; 77 without an nvcc of CUDA 12 or later
       skeleton_test.py MGSYNC run [NVCC]      77 without a GPU that has it; broken ones too, which must say so and end
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, WHAT = sys.argv[1:3]
ASKED = ("study", "pipeline", "--gemm", "1000x1024x4096")
ALL = {  # the best kernel, two consumers that take turns, and mma with two producers
    "best": (),
    "turns": ("--tile", "64x256x64", "--consumers", "2", "--buffers", "3"),
    "mma": ("--kernel", "mma", "--producers", "2"),
}
# What is taken out of the kernel, and what the program then says.
BROKEN = {
    "release": (r"if \(lane == 0\) mbarrier_arrive\(&at_block->empty\[at\.slot\]\);", "waited too long: "),
    "arrival": (r"expect_bytes\(full, stage_bytes\);", "waited too long: "),
    "operand": (r"(?<=a \+ 2 \* k, b \+ 2 \*) k", "WRONG"),
}


def mgsync(*words, code=0):
    run = subprocess.run([PROGRAM, *ASKED, *words], capture_output=True, text=True, timeout=60)
    assert run.returncode == code, (words, run.returncode, run.stderr)
    return run


def text():
    table = mgsync("--skeleton", "best.cu").stdout
    with open("best.cu") as written:
        words = written.read()
    tile = re.search(r"best +kernel \w+, tile (\d+)x(\d+)x(\d+)", table)
    assert "tile_m = {}, tile_n = {}, tile_k = {};".format(*tile.groups()) in words, (table, words[:2000])
    shown = mgsync("--skeleton", "-")
    assert shown.stdout == words and shown.stderr == table, shown
    for words, because in ((("--skeleton", "best.cu", "--json", "./best.cu"), "are the same file"),
                           (("--skeleton", "no/folder/best.cu"), "--skeleton no/folder/best.cu: "),
                           (("--skeleton", "out.cu", "--machine", "paper"), "accepted: with a machine whose kernels were measured")):
        said = mgsync(*words, code=2).stderr
        assert because in said and said.count("\n") == 1, said
    alone = subprocess.run([PROGRAM, "study", "pipeline", "--skeleton", "out.cu"], capture_output=True, text=True)
    assert alone.returncode == 2 and "accepted: with --gemm MxNxK" in alone.stderr, alone
    assert not os.path.exists("out.cu")


def skip(why):
    print(why)
    sys.exit(77)


def compiler():
    """An nvcc of CUDA 12 or later."""
    for one in (*sys.argv[3:], shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if one and shutil.which(one):
            said = subprocess.run([one, "--version"], capture_output=True, text=True).stdout
            release = re.search(r"release (\d+)\.", said)
            if release and int(release[1]) >= 12:
                return one
    skip("there is no nvcc of CUDA 12 or later here")


def built(name, nvcc):
    """By the command in its first lines, without a warning."""
    with open(f"{name}.cu") as source:
        command = re.search(r"^//   nvcc (.*) FILE.cu -o product && ./product$", source.read(), re.M)[1].split()
    run = subprocess.run([nvcc, *command, "-Xcompiler=-Wall,-Wextra", "-Werror=all-warnings", f"{name}.cu", "-o", name], capture_output=True,
                         text=True, timeout=300)
    assert run.returncode == 0 and not run.stderr, (name, run.stderr)
    return f"./{name}"


def compile_all():
    nvcc = compiler()
    for name, words in ALL.items():
        mgsync(*words, "--skeleton", f"{name}.cu")
        built(name, nvcc)
    return nvcc


def run_all():
    nvcc = compile_all()
    for name in ALL:
        run = subprocess.run([f"./{name}"], capture_output=True, text=True, timeout=120)
        if "asking for a GPU" in run.stderr or "does not run on compute capability" in run.stderr:
            skip(run.stderr)
        print(name, run.stdout, run.stderr, sep="\n")
        assert run.returncode == 0 and run.stdout.count(": right") == 4 and "foretold for that" in run.stdout, run
    with open("best.cu") as source:
        sound = source.read()
    for name, (what, because) in BROKEN.items():
        wrong, times = re.subn(what, " 0" if name == "operand" else "", sound)
        assert times == 1, (name, times)
        with open(f"{name}.cu", "w") as written:
            written.write(wrong)
        run = subprocess.run([built(name, nvcc)], capture_output=True, text=True, timeout=60)
        print(name, run.stdout, run.stderr, sep="\n")
        assert run.returncode == 1 and because in run.stdout + run.stderr, (name, run)


with tempfile.TemporaryDirectory() as folder:
    PROGRAM = os.path.abspath(PROGRAM)
    os.chdir(folder)
    {"text": text, "compile": compile_all, "run": run_all}[WHAT]()
