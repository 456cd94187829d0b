#!/usr/bin/env python3
"""Counts lines of code, without blank lines and comments, for each room of the house (a folder with sources).

Usage: tests/code_lines.py [COMMIT]   counts the working tree, or COMMIT, with what changed between the two.
"""
import collections
import pathlib
import subprocess
import sys

ENDINGS = {".cpp", ".hpp", ".cu", ".cuh", ".inc"}


def code_lines(text):
    """Lines of C++ that hold more than blanks and comments."""
    count, in_comment, raw_end = 0, False, None
    for line in text.splitlines():
        code, i = False, 0
        while i < len(line):
            if raw_end is not None:  # inside of R"(...)": all of it is code
                code, end = True, line.find(raw_end, i)
                i = len(line) if end < 0 else end + len(raw_end)
                raw_end = None if end >= 0 else raw_end
            elif in_comment:
                end = line.find("*/", i)
                i, in_comment = (len(line), True) if end < 0 else (end + 2, False)
            elif line.startswith("//", i):
                break
            elif line.startswith("/*", i):
                in_comment, i = True, i + 2
            elif line.startswith('R"', i):
                code, opening = True, line.find("(", i)
                raw_end, i = ")" + line[i + 2:opening] + '"', opening + 1
            elif line[i] == '"' or (line[i] == "'" and not (i and line[i - 1].isalnum())):
                code, quote, i = True, line[i], i + 1
                while i < len(line) and line[i] != quote:
                    i += 2 if line[i] == "\\" else 1
                i += 1
            else:
                code = code or not line[i].isspace()
                i += 1
        count += code
    return count


def rooms(root, commit=None):
    """Lines of code by room: {folder: lines}."""
    def git(*words):
        return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True).stdout

    listed = git("ls-tree", "-r", "--name-only", "-z", commit) if commit else git("ls-files", "-z")
    counts = collections.Counter()
    for name in listed.decode().split("\0"):
        path = pathlib.PurePosixPath(name)
        if path.suffix in ENDINGS:
            text = git("show", f"{commit}:{name}").decode() if commit else (root / path).read_text()
            counts[str(path.parent)] += code_lines(text)
    return counts


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__.strip())
    now = rooms(root)
    before = rooms(root, sys.argv[1]) if len(sys.argv) == 2 else now
    for room in sorted(now.keys() | before.keys()):
        print(f"{now[room]:7}{now[room] - before[room] or '':>+8}  {room}" if before is not now and now[room] != before[room]
              else f"{now[room]:7}{'':8}  {room}")
    for what, chosen in (("tests", lambda room: room.startswith("tests")), ("all but tests", lambda room: not room.startswith("tests"))):
        total = sum(lines for room, lines in now.items() if chosen(room))
        change = total - sum(lines for room, lines in before.items() if chosen(room))
        print(f"{total:7}{f'{change:+}' if before is not now else '':>8}  {what}")


if __name__ == "__main__":
    main()
