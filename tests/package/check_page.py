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


def under_thread_sanitizer(folder):
    """As the page's end says: what x86 hides of a barrier whose accesses are all relaxed, and that the right one is clean."""
    library = subprocess.run([cxx, "-print-file-name=libtsan.so"], capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(library):
        return print("no ThreadSanitizer here")
    assert "LD_PRELOAD=$(g++ -print-file-name=libtsan.so) mgsync check ./mine.so" in page
    text = (folder / "counted.cpp").read_text()
    for name, source, code, sentence in (("right", text, 0, "no fault was seen"),
                                         ("relaxed", re.sub("__ATOMIC_(ACQ_REL|ACQUIRE)", "__ATOMIC_RELAXED", text), 3, "ThreadSanitizer found a race")):
        (folder / f"{name}.cpp").write_text(source)
        subprocess.run([cxx, "-std=c++17", "-O2", "-g", "-fsanitize=thread", "-shared", "-fPIC", "-I", f"{prefix}/include", f"{name}.cpp", "-o", f"{name}.so"],
                       cwd=folder, check=True)
        for preload, wanted, words in (("", 2, "begin the command with LD_PRELOAD"), (library, code, sentence)):
            done = subprocess.run([f"{prefix}/bin/mgsync", "check", f"./{name}.so", "--scenario", "ordinary-accesses"], cwd=folder, capture_output=True,
                                  text=True, timeout=600, stdin=subprocess.DEVNULL, env={**os.environ, **({"LD_PRELOAD": preload} if preload else {})})
            assert done.returncode == wanted and words in done.stdout + done.stderr, (name, preload, done.returncode, done.stdout, done.stderr[-2000:])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        said = carry_out(half("Host threads"), folder, cxx, [("mgsync check", (3,))])
        for sentence in ("replay             VIOLATED", "held-back          passed", "counted.so:counted"):
            assert sentence in said and sentence in page, sentence
        assert (folder / "counted.json").exists()
        under_thread_sanitizer(folder)
        if nvcc:
            # 4: no GPU here; a counter of read and fence is found sound, its epoch not.
            carry_out(half("GPUs"), folder, nvcc, [("mgsync check", (3, 4)), ("mgsync audit", (0, 3)), ("mgsync --backend", (0, 4))])
    print(f"{typed} commands of the page were typed")


main()
