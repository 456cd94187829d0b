#!/usr/bin/env python3
"""Every option that a sentence of mgsync names exists: a remedy that cannot be typed is none.

Usage: options_named_test.py MGSYNC SOURCES. Reads the string literals of the sources; options of other programs are listed here."""
import pathlib
import re
import subprocess
import sys

# Of programs that mgsync's sentences name beside its own.
OTHERS = {
    "srun, sbatch": "--cpu-bind --cpus-per-task --exclusive --gpu-bind --gpus-per-node --gpus-per-task --mpi --ntasks --ntasks-per-node --overcommit",
    "mpirun": "--bind-to --map-by",
    "docker": "--cpus --cpuset-cpus --gpus",
    "lstopo": "--of",
    "nvcc": "--no-compress",
}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def own_options(program):
    def help_of(*words):
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout

    listed = re.compile(r"^  (--[a-z-]+)", re.M)
    found = set(listed.findall(help_of()))
    studies = re.findall(r"^([\w-]+): ", subprocess.run([program, "study"], capture_output=True, text=True, timeout=120, check=True).stdout, re.M)
    assert len(found) > 30 and "barriers" in studies, (found, studies)
    for study in studies:
        found |= set(listed.findall(help_of("study", study)))
    return found


def named_in(text):
    """The options in the string literals, and the line of each."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("//", "#include")):
            continue
        for literal in LITERAL.findall(line):
            yield from ((number, option) for option in OPTION.findall(literal))


def main():
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    known = own_options(program) | set(" ".join(OTHERS.values()).split())
    # The reading itself: a wrong option is seen, and one in a comment or a word with dashes is none.
    seen = list(named_in('throw x("use --backends, or --json FILE");\n// --nothing\nf("a--b"); g("say \\"--csv\\"");'))
    assert seen == [(1, "--backends"), (1, "--json"), (3, "--csv")], seen
    assert "--backends" not in known and "--json" in known and "--argument-bytes" in known, sorted(known)
    files = [f for folder in ("src", "topology", "barriers") for f in (root / folder).rglob("*") if f.suffix in (".cpp", ".hpp", ".cu", ".cuh")]
    wrong, named = [], set()
    for file in files:
        for number, option in named_in(file.read_text()):
            named.add(option)
            if option not in known:
                wrong.append(f"{file.relative_to(root)}:{number}: there is no option {option}")
    assert len(named) > 30, named
    print("\n".join(wrong) or f"{len(named)} options are named in {len(files)} files, and all exist")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
