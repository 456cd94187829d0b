#!/usr/bin/env python3
"""What `mgsync study` refuses before it measures, and what it has written when its figures cannot be.

Usage: axes_test.py MGSYNC [sanitized]. Sanitized: what it takes of memory is not the program's own. Host members only: the same on every machine."""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
SANITIZED = "sanitized" in sys.argv[2:]
# Of a processor, for an answer of the model: a sanitizer's build, which is not optimized, takes fifty times as long.
WORK_S = 20 if SANITIZED else 2


def study(*words, code=0):
    run = subprocess.run([PROGRAM, "study", *words], capture_output=True, text=True, timeout=120)
    assert run.returncode == code, (words, run.returncode, run.stderr)
    return run.stdout if code == 0 else run.stderr


def until(wanted, *words):
    """Again until its exit code is wanted: on a busy machine a barrier may take longer than it may."""
    for _ in range(10):
        if wanted(subprocess.run([PROGRAM, "study", *words], capture_output=True, timeout=120).returncode):
            return
    raise AssertionError(words)


def refused(*words, because):
    said = study(*words, code=2)
    assert because in said and "accepted" in said and said.count("\n") == 1, (words, said)
    assert not [name for name in os.listdir() if name not in ("file", "machine")], os.listdir()


def cost_of(*words):
    """What a command prints, and the seconds of work and the MB of memory that it took."""
    # What a sanitizer keeps of freed memory is not the program's.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = study(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def ends_on_sigterm(*words, after):
    run = subprocess.Popen([PROGRAM, "study", *words], stdout=subprocess.DEVNULL, start_new_session=True)
    time.sleep(after)
    run.terminate()
    assert run.wait(timeout=60) in (-signal.SIGTERM, 128 + signal.SIGTERM), run.returncode
    for _ in range(600):  # and leaves nobody behind
        try:
            os.killpg(run.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("a process of it goes on")


def answers_of_a_model():
    for size in ("1x1x1", "64x64x64", "1023x77x4097", "8192x8192x8192", "8192x28672x8192", "16384x16384x16384", "262144x262144x262144",
                 "1048576x64x64", "1048576x1048576x1048576"):
        said, seconds, megabytes = cost_of("pipeline", "--gemm", size)
        assert "on NVIDIA H200" in said and "docs/results/h200x1/pipeline-wgmma.json.xz" in said and "TFLOP/s" in said, said
        assert seconds < WORK_S and megabytes < 200, (size, seconds, megabytes)
        _, seconds, megabytes = cost_of("pipeline", "--gemm", size, "--all-tiles")
        assert seconds < WORK_S and megabytes < 200, (size, seconds, megabytes)
    said = study("pipeline", "--gemm", "4096x4096x4096", "--json", "answer.json")
    with open("answer.json") as written:
        document = json.load(written)
    assert document["schema"] == "mgsync-gemm/1" and document["command"].startswith("mgsync study pipeline --gemm"), document
    assert re.search(f"{document['answer']['time_us']:.3f} us", said), said
    only = subprocess.run([PROGRAM, "study", "pipeline", "--gemm", "4096x4096x4096", "--json", "-"], capture_output=True, text=True, check=True)
    assert json.loads(only.stdout)["answer"]["best"] == document["answer"]["best"] and "best " in only.stderr, only
    rows = study("pipeline", "--gemm", "4096x4096x4096", "--csv", "-").splitlines()
    assert rows[0].startswith("gemm,kernel,tile") and rows[1].split(",")[2] == document["answer"]["best"]["tile"], rows[:2]
    # A machine of one's own: read, and not written over.
    with open("own.json", "w") as own:
        own.write(study("pipeline", "--machine", "h200"))
    assert document["answer"]["best"]["tile"] in study("pipeline", "--gemm", "4096x4096x4096", "--machine", "own.json")
    assert "would be written over it" in study("pipeline", "--gemm", "64x64x64", "--machine", "own.json", "--json", "own.json", code=2)
    os.mkfifo("slow.json")
    ends_on_sigterm("pipeline", "--gemm", "64x64x64", "--machine", "slow.json", after=0.5)
    ends_on_sigterm("pipeline", "--gemm", "8192x28672x8192", "--all-tiles", "--solver", after=0.3)
    checked, _, megabytes = cost_of("pipeline", "--gemm", "8192x28672x8192", "--all-tiles", "--solver")
    assert ("solver       Z3" in checked or "no Z3 in this build" in checked) and (SANITIZED or megabytes < 200), (checked, megabytes)
    for made in ("answer.json", "own.json", "slow.json"):
        os.remove(made)


def main():
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    open("file", "w").close()
    host = ("--device", "host")
    refused("verify", "--clock", "device", *host, because="the members here are host threads")
    refused("launch", "--members", "2000000000", *host, because="--members is '2000000000'; accepted: 1 to 4096")
    # GPUs are GPUs: a study that has the axis measures no host threads in their place.
    for name in ("launch", "timeline", "barriers"):
        refused(name, "--gpus", "1", *host, because="--gpus 1 and --device host contradict each other; accepted: --members 1")
        if "\nNo GPU\n" in subprocess.run([PROGRAM, "topology"], capture_output=True, text=True, timeout=120).stdout:
            refused(name, "--gpus", "1", because="--gpus is '1', and no GPU is visible here; accepted: --members, which")
    refused("blocking", "--level", "thread", "--method", "mpi-barrier", *host, because="leave nothing to measure")
    refused("reduction", "--way", "serial,mpi-reduce", *host, because="--way is 'mpi-reduce'")
    # Nothing of what was asked for is left out in silence.
    for option in ("--json", "--csv", "--store"):
        refused(option, "out", because=f"{option} out")
    asked = ("pipeline", "--gemm", "512x512x512")
    for words in (("--store", "out"), ("--seed", "1"), ("--dry-run",), ("--device", "host"),
                  ("--size", "paper"), ("--solver",), ("--timeout", "1s")):
        refused(*asked, *words, because=words[0])
    refused("pipeline", "--solver", because="--solver")
    refused("pipeline", "--machine", "h200", "--json", "out", because="--json out")
    refused("pipeline", "--machine", "h200", "--csv", "out", because="--csv")
    refused("pipeline", "--buffers", "2", because="--buffers")
    refused("pipeline", "--gemm", "1048577x1x1", because="1x1x1 to 1048576x1048576x1048576")
    answers_of_a_model()
    refused("--figures", "out", because="--figures")
    refused("pipeline", "--machine", ".", because="a machine file, or results of `mgsync study pipeline`")
    refused("pipeline", "--machine", "file", because="a machine file, or results of `mgsync study pipeline`")
    # Of all studies: the axes that mean one thing, and measure.
    offered = study("all", "--help")
    for axis in ("form", "quantity", "level", "members", "gpus", "gemm", "machine"):
        assert f"--{axis} " not in offered, axis
        refused("all", f"--{axis}", "1", because=f"--{axis} is asked of one study at a time")
    assert "point" in study("all", "--clock", "host", "--run", "3", "--dry-run", *host)
    assert study("launch", "--kind", "std-thread,std-thread", "--quantity", "null,null", "--dry-run", *host).count("std-thread") == 1

    # Figures: a folder that cannot be is told before; one that turns out bad costs no documents.
    ranked = ("barriers", "--backend", "multigrid,peers", *host)
    refused(*ranked, "--figures", "file", "--json", "out.json", because="--figures file")
    until(lambda code: code == 0 and os.listdir("figures"), *ranked, "--figures", "figures", "--json", "first.json")
    drawn = os.listdir("figures")
    assert drawn and all(name.endswith(".svg") for name in drawn), drawn
    for name in drawn:
        os.mkdir(os.path.join("figures", name + ".is"))
        os.remove(os.path.join("figures", name))
        os.rename(os.path.join("figures", name + ".is"), os.path.join("figures", name))
    until(lambda code: code == 2, *ranked, "--figures", "figures", "--json", "second.json", "--csv", "second.csv")
    with open("second.json") as written:
        document = json.load(written)
    assert document["ended"] == "complete" and all(r["status"] == "measured" for r in document["results"]), document["ended"]
    assert os.path.getsize("second.csv") > 0
    print("refused, or written: as it should be")


if __name__ == "__main__":
    main()
