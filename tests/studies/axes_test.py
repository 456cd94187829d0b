#!/usr/bin/env python3
"""What `mgsync study` refuses before it measures, and what it has written when its figures cannot be.

Usage: axes_test.py MGSYNC. Host members only: the same on every machine."""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]


def study(*words, code=0):
    run = subprocess.run([PROGRAM, "study", *words], capture_output=True, text=True, timeout=120)
    assert run.returncode == code, (words, run.returncode, run.stderr)
    return run.stdout if code == 0 else run.stderr


def refused(*words, because):
    said = study(*words, code=2)
    assert because in said and "accepted" in said and said.count("\n") == 1, (words, said)
    assert not [name for name in os.listdir() if name not in ("file", "machine")], os.listdir()


def main():
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    open("file", "w").close()
    host = ("--device", "host")
    refused("verify", "--clock", "device", *host, because="the members here are host threads")
    refused("launch", "--gpus", "2000000000", *host, because="--gpus is '2000000000'; accepted: 1 to 4096")
    refused("blocking", "--level", "thread", "--method", "mpi-barrier", *host, because="leave nothing to measure")
    refused("reduction", "--way", "serial,mpi-reduce", *host, because="--way is 'mpi-reduce'")
    # Nothing of what was asked for is left out in silence.
    for option in ("--json", "--csv", "--store"):
        refused("pipeline", "--gemm", "512x512x512", option, "out", because=f"{option} out")
        refused(option, "out", because=f"{option} out")
    refused("--figures", "out", because="--figures")
    refused("pipeline", "--machine", ".", because="a machine file, or results of `mgsync study pipeline`")
    refused("pipeline", "--machine", "file", because="a machine file, or results of `mgsync study pipeline`")
    # Of all studies: the axes that mean one thing, and measure.
    offered = study("all", "--help")
    for axis in ("form", "quantity", "level", "members", "gpus", "gemm", "machine"):
        assert f"--{axis} " not in offered, axis
        refused("all", f"--{axis}", "1", because=f"--{axis} is asked of one study at a time")
    assert "point" in study("all", "--clock", "host", "--late", "3", "--dry-run", *host)
    assert study("launch", "--kind", "std-thread,std-thread", "--quantity", "null,null", "--dry-run", *host).count("std-thread") == 1

    # Figures: a folder that cannot be is told before; one that turns out bad costs no documents.
    launch = ("launch", "--kind", "std-thread", "--quantity", "total,gradient", *host)
    refused(*launch, "--figures", "file", "--json", "out.json", because="--figures file")
    study(*launch, "--figures", "figures", "--json", "first.json")
    drawn = os.listdir("figures")
    assert drawn and all(name.endswith(".svg") for name in drawn), drawn
    for name in drawn:
        os.mkdir(os.path.join("figures", name + ".is"))
        os.remove(os.path.join("figures", name))
        os.rename(os.path.join("figures", name + ".is"), os.path.join("figures", name))
    study(*launch, "--figures", "figures", "--json", "second.json", "--csv", "second.csv", code=2)
    with open("second.json") as written:
        document = json.load(written)
    assert document["ended"] == "complete" and all(r["status"] == "measured" for r in document["results"]), document["ended"]
    assert os.path.getsize("second.csv") > 0
    print("refused, or written: as it should be")


if __name__ == "__main__":
    main()
