#!/usr/bin/env python3
"""Types what docs/peers.md says about trying the forms: every compilation, check and audit of the page, as it stands there.

Usage: peers_page_test.py ROOT MGSYNC CXX [NVCC]. Without NVCC what it compiles is left out.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

root, mgsync, cxx = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
compilers = {"g++": str(cxx), "nvcc": (sys.argv[4:] or [""])[0] or None}
lines = re.findall(r"^    ((?:g\+\+|nvcc|mgsync check|mgsync audit) .*)$", (root / "docs/peers.md").read_text(), re.M)
assert len(lines) >= 4, lines

with tempfile.TemporaryDirectory() as folder:
    for name in ("barriers", "src", "tests"):
        os.symlink(root / name, f"{folder}/{name}")
    for line in lines:
        program, *words = shlex.split(line)
        if program in compilers:
            if compilers[program] is None:
                continue
            words.insert(0, compilers[program])
        elif not pathlib.Path(folder, words[1].split(":")[0]).exists():
            continue
        else:
            words.insert(0, str(mgsync))
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
        said = done.stdout + done.stderr
        if program == "mgsync" and words[1] == "audit":
            assert done.returncode == 3 and "nothing releases" in said, (line, done.returncode, said[-2000:])
        else:
            assert done.returncode == 0, (line, done.returncode, said[-2000:])
        if program == "mgsync" and words[1] == "check":
            assert "no fault was seen" in said, (line, said[-2000:])
        print(line, "-> as the page says")
