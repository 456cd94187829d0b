#!/usr/bin/env python3
"""What docs/coming-from.md tells a reader to type is accepted, as it stands there, with --dry-run behind it. Without a GPU a command
for GPUs ends with the sentence that says so, and nothing else.

Usage: typed_test.py MGSYNC SOURCE_TREE
"""
import pathlib
import re
import shlex
import subprocess
import sys

program, page = sys.argv[1], (pathlib.Path(sys.argv[2]) / "docs/coming-from.md").read_text()
cells = re.findall(r"`((?:mpirun -np \d+ )?mgsync [^`]+)`", page)
typed = []
for command in cells:
    words = shlex.split(re.sub(r"^mpirun -np \d+ ", "", command))[1:]
    if words[0] not in ("compare", "report", "topology") and "NAME" not in words:
        typed.append((command, words))
assert len(typed) >= 12, typed
faults = 0
for command, words in typed:
    done = subprocess.run([program, *words, "--dry-run"], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    for_gpus = "GPU" in done.stderr and done.returncode in (2, 4) and done.stderr.count("\n") == 1
    if done.returncode != 0 and not for_gpus:
        faults += 1
        print(f"{command}\n  exit {done.returncode}: {done.stderr.strip()[-300:]}")
print(f"{len(typed)} commands, {faults} not accepted")
sys.exit(bool(faults))
