#!/usr/bin/env python3
"""mgsync advise without files measures here first, answers, and takes no longer than it may; with files it says no more
than they hold, and neither does mgsync report. Usage: advise_test.py MGSYNC"""
import json
import lzma
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SLACK_S = 20  # for starting, for a barrier's last batch, for the answer, on a machine that has a core to spare


def crowding():
    """How many times as long as its processor time a piece of work takes here, now: 1 on an idle machine."""
    wall, own = time.monotonic(), time.process_time()
    while time.process_time() - own < 0.3:
        pass
    return max(1.0, (time.monotonic() - wall) / (time.process_time() - own))


def advise(*words, timeout=280):
    crowd = crowding()
    began = time.monotonic()
    done = subprocess.run([sys.argv[1], "advise", "--device", "host", *words], capture_output=True, text=True, timeout=timeout, check=False)
    took = time.monotonic() - began
    # A busy machine makes it slower, not red: what other work took is counted as slack.
    return done, took - SLACK_S * max(crowd, crowding())


def said_of(*words):
    done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def check_files(folder):
    committed = pathlib.Path(__file__).resolve().parents[2] / "docs/results"
    # On GPUs nothing was measured here: that is no answer for host members.
    code, said = said_of("advise", committed / "host64/one-process.json.xz", "--device", "gpu")
    assert code == 2 and "--device gpu: these results are of 2 host members, 4 host members, 8 host members, 16 host members" in said and "accepted: host, auto" in said, said
    # The answer is something that a program can call over all these blocks, in whatever build: no block's barrier, no kernel of our own.
    answer = folder / "answer.json"
    code, said = said_of("advise", committed / "h200x4/barriers.json.xz", "--gpus", "1", "--shape", "32x64", "--work", "20us", "--json", answer)
    assert code == 0 and said.startswith("For 1 GPU, shape 32x64, take multigrid:library: 2.152 us ("), said
    assert "To call it: " in said and "#include <mgsync/multi_grid.cuh>" in said and "Faster, but no program can call it: multigrid:relay" in said, said
    offered = json.loads(answer.read_text())["barriers"]
    assert offered[0]["call"] and offered[0]["needs"] and not any(one["barrier"].startswith(("warp", "block", "cluster")) for one in offered), offered
    code, said = said_of("advise", committed / "host64/one-process.json.xz", "--members", "16")
    assert code == 0 and "take openmp:runtime" in said and "To call it: #pragma omp barrier (-fopenmp)." in said, said
    code, said = said_of("advise", committed / "h200x4/barriers.json.xz", committed / "h100x2/barriers.json.xz", "--gpus", "2")
    assert code == 2 and "of different machines (NVIDIA H100 80GB HBM3; NVIDIA H200); accepted: files of one kind" in said, said
    code, said = said_of("advise", committed / "h200x4/barriers.json.xz", committed / "h200x2/reference-1.json.xz", "--gpus", "2")
    assert code == 0 and said.startswith("For 2 GPUs, "), said
    code, said = said_of("advise", committed / "host64/one-process.json.xz", committed / "host64/64-ranks.json.xz", "--members", "64")
    assert code == 0 and "take openmp:runtime" in said and "of several ranks (mpi:default, " in said, said
    code, said = said_of("advise", committed / "host64/64-ranks.json.xz", "--members", "64")
    assert code == 0 and "take mpi:default" in said and "of several ranks" not in said, said
    code, said = said_of("advise", committed / "host64/one-process.json.xz", "--members", "128")  # more than it has cores
    assert code == 0 and "to know, where there are 128 cores: mgsync --device host --members 128 " in said, said
    code, said = said_of("report", committed / "h200x4/barriers.json.xz", "--markdown", "-")
    assert code == 0 and "On 4 GPUs, take multigrid:library, the fastest barrier that a program can call" in said, said
    # Of a file cut to one shape another is a guess, whose interval holds what was measured.
    document = json.loads(lzma.open(committed / "h200x4/barriers.json.xz", "rt").read())
    every = document["results"]
    alike = [one for one in every if one["members"] == 4 and one["axes"].get("blocks_per_sm", {}).get("value") == 1]
    document["results"] = [one for one in alike if one["axes"]["threads_per_block"]["value"] == 32]
    file = folder / "only1x32.json"
    file.write_text(json.dumps(document))
    code, said = said_of("advise", file, "--gpus", "4", "--shape", "32x64", "--work", "20us", "--json", answer)
    assert code == 0 and "a guess: its shape lies outside" in said and "to know: mgsync --gpus 4 --shape 32x64 --backend " in said, said
    best = json.loads(answer.read_text())["barriers"][0]
    truth = [one["metrics"]["latency"]["median"] for one in every
             if one["status"] == "measured" and one["members"] == 4 and f'{one["subject"]}:{one["variant"]}' == best["barrier"]
             and one["axes"].get("blocks_per_sm", {}).get("value") == 32 and one["axes"]["load"]["value"] == "idle"]
    assert best["beyond"] and truth and best["low"] <= truth[0] <= best["high"], (best, truth)
    # Cut off before anything was finished: so it is said, by both.
    document["results"], document["ended"] = [], "interrupted"
    file.write_text(json.dumps(document))
    code, said = said_of("advise", file)
    assert code == 2 and "measured to its end" in said and "no barriers" not in said, said
    for words in [], ["--markdown", "-"]:
        code, said = said_of("report", file, *words)
        assert code == 0 and "its command was cut short" in said, said


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_files(pathlib.Path(folder))
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: one hardware thread is one member, which needs no barrier")
        return 77
    # Its own 20 s on a machine that has the cores to spare; a busy one is given what it needs to know anything.
    within_s = 20 if (crowd := crowding()) < 1.3 else round(60 * crowd)
    options = [] if within_s == 20 else ["--within", f"{within_s}s"]
    done, took = advise("--members", "2", "--work", "50us", *options, timeout=2 * within_s + 200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("For 2 host members, shape 1, take "), done.stdout
    assert "measured there" in done.stdout and "of a step of 50 us of work" in done.stdout, done.stdout
    assert took < within_s, f"{took:.1f} s beyond the slack"
    # Too short for anything: what there is, or the sentence that there is nothing; in time either way.
    done, took = advise("--members", "2", "--within", "400ms")
    assert done.returncode in (0, 2), done.stderr
    assert "--within" in done.stderr or "nothing is known" in done.stderr or done.returncode == 0, done.stderr
    assert took < 0.4, f"{took:.1f} s beyond the slack"
    done, took = advise("--members", "1000")
    assert done.returncode == 2 and "1000 members are asked for, and here are" in done.stderr and took < 2, done.stderr
    done, _ = advise("--within", "0s")
    assert done.returncode == 2 and "--within" in done.stderr, done.stderr
    # A signal ends the measurement too.
    running = subprocess.Popen([sys.argv[1], "advise", "--device", "host", "--members", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=280)
    assert running.returncode in (0, 128 + signal.SIGINT), (running.returncode, said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
