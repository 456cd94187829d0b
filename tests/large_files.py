#!/usr/bin/env python3
"""Lists what the house calls smells: sources of more than 400 lines, functions of more than 60, and headers that at
most one file uses besides their own source and tests; each with why it is so all the same.

Usage: tests/large_files.py            (tests are not counted)
"""
import collections
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENDINGS = (".cpp", ".hpp", ".cu", ".cuh", ".inc")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
VENDORS = re.compile(r'^\s*#\s*include\s+<(mpi|cuda|nccl|nvml|hwloc|omp|z3)', re.M)

# Reasons that no rule below says.
WHY = {
    "barriers/library/include/mgsync/check.hpp": "an installed header for barriers of other people, C++ and C in one file",
    "src/base/json_reader.hpp": "reading, apart from writing",
    "src/base/json_writer.hpp": "writing, apart from reading",
    "topology/core.hpp": "plain values that machines are made of",
}
LONG_FUNCTIONS = {
    "barriers/library/include/mgsync/mpi_exchange.hpp": "one closure with what frees its communicator",
    "barriers/parts/round_loop/device_rounds.hpp": "one loop of device code: the check itself",
    "src/app/option_table.cpp": "a table: some lines for each option",
}


def sources():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    names = [name for name in listed.split("\0") if name.endswith(ENDINGS) and (ROOT / name).exists()]
    return {name: (ROOT / name).read_text(errors="replace") for name in names}


def functions(text):
    """(first line, lines) of each function, as .clang-format lays them out."""
    lines = text.splitlines()
    for indent in ("", "  "):
        begun = None
        for number, line in enumerate(lines, 1):
            if line.startswith(indent) and line[len(indent):len(indent) + 1].strip() not in ("", "}", "#", "/"):
                begun = number if begun is None or not line.startswith(indent + " ") else begun
            if line == indent + "}" and begun is not None:
                head = "\n".join(lines[begun - 1:number])
                if not re.match(r"\s*(?:template.*\n\s*)?(namespace|struct|class|enum|union|extern \"C\")\b", head):
                    yield begun, number - begun + 1
            if line.startswith(indent + "}"):
                begun = None


def users_of(texts):
    users = collections.defaultdict(set)
    for name, text in texts.items():
        for one in INCLUDE.findall(text):
            near = os.path.normpath(os.path.join(os.path.dirname(name), one))
            found = [path for path in (one, near) if path in texts] or [path for path in texts if path.endswith("/" + one)]
            for path in found[:1]:
                users[path].add(name)
    return users


def why(header, texts, users):
    """Why a header of one user is a file."""
    stem = header.rsplit(".", 1)[0]
    if header in WHY:
        return WHY[header]
    if "/include/mgsync/" in header:
        return "installed: its users are programs"
    own = [name for name in texts if name.rsplit(".", 1)[0] == stem and name != header]
    if any(name.endswith(".cu") for name in own):
        return "between two compilers: nvcc compiles its source"
    if any(VENDORS.search(texts[name]) for name in own):
        return "keeps a vendor's header out of its user"
    if any(name.startswith("tests/") for name in users):
        return "a test uses it by itself"
    if not own and re.search(r"__global__|__device__|MGSYNC_DEVICE|asm volatile", texts[header]):
        return "device code, apart from what launches it"
    if own:
        return "one idea with a source of its own"
    return "one idea beside its user's"


def main():
    texts = sources()
    house = {name: text for name, text in texts.items() if not name.startswith("tests/")}
    for name, text in sorted(house.items()):
        if (count := text.count("\n")) > 400:
            print(f"source   {count:5}  {name}: {WHY.get(name, '')}".rstrip(": "))
    for name, text in sorted(house.items()):
        for line, count in functions(text):
            if count > 60:
                print(f"function {count:5}  {name}:{line}: {LONG_FUNCTIONS.get(name, '')}".rstrip(": "))
    users = users_of(texts)
    reasons = collections.defaultdict(list)
    for header in sorted(name for name in house if name.endswith((".hpp", ".cuh"))):
        stem = header.rsplit(".", 1)[0]
        others = [name for name in users[header] if not name.startswith("tests/") and name.rsplit(".", 1)[0] != stem]
        if len(others) <= 1:
            reasons[why(header, texts, users[header])].append(header)
    for reason, headers in sorted(reasons.items(), key=lambda one: -len(one[1])):
        print(f"headers  {len(headers):5}  {reason}:")
        for header in headers:
            print(f"                {header}")
    print(f"headers  {sum(map(len, reasons.values())):5}  in all that at most one file uses besides their own source and tests")


if __name__ == "__main__":
    main()
