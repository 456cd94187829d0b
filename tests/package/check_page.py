#!/usr/bin/env python3
"""Types what docs/check.md says, in an empty folder, with an installed mgsync: the first listing of each half is written to
the file that is named above it, and every command of the half is carried out as it stands there.

Usage: check_page.py PAGE PREFIX CXX [NVCC]. Without NVCC the half for GPUs is left out, with it and without a GPU its rounds.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

page, prefix, cxx = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2], sys.argv[3]
nvcc = sys.argv[4] if len(sys.argv) > 4 else None
typed = 0


def half(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |^### |\Z)", page, re.M | re.S)[1]


def carry_out(text, folder, compiler, endings):
    """Each command with the exit codes that it may have, by its first words."""
    global typed
    listing = re.search(r"^`(\w+\.\w+)`\n\n```\w+\n(.*?)^```", text, re.M | re.S)
    (folder / listing[1]).write_text(listing[2])
    said = ""
    commands = re.findall(r"^    (\S.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    assert len(commands) >= 4, commands
    for command in commands:
        words = shlex.split(command.replace("PREFIX", prefix))
        if words[0] in ("g++", "nvcc"):
            words[0] = compiler
        wanted = next((codes for begin, codes in endings if command.startswith(begin)), (0,))
        if "--members" in words:
            words.append("--oversubscribe")
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}"})
        assert done.returncode in wanted, f"{command}\n  exit {done.returncode}, not {wanted}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        said += done.stdout
        typed += 1
    return said


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        said = carry_out(half("Host threads"), folder, cxx, [("mgsync check", (3,))])
        for sentence in ("replay             VIOLATED", "held-back          passed", "counted.so:counted"):
            assert sentence in said and sentence in page, sentence
        assert (folder / "counted.json").exists()
        if nvcc:
            # 4: no GPU here; a counter of read and fence is found sound, its epoch not.
            carry_out(half("GPUs"), folder, nvcc, [("mgsync check", (3, 4)), ("mgsync audit", (0, 3)), ("mgsync --backend", (0, 4))])
    print(f"{typed} commands of the page were typed")


main()
