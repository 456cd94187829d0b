#!/usr/bin/env python3
"""No number is printed and parsed back inside: studies, their evaluations and the harness read values.

Text becomes numbers at the borders alone: what a user typed, files, other programs, and the wire between processes. Found
is each call that parses numbers or JSON by hand in the folders below, but for the files below.

Usage: number_parsing.py ROOT. Prints every such place, and every file below that parses nothing any more; then exits with 1.
"""
import pathlib
import re
import sys

FOLDERS = ("src/app", "src/report", "src/models", "src/studies", "src/harness", "barriers")
# File, and what its text is.
ALLOWED = {
    "barriers/words.cpp": "what a user typed",
    "src/app/help.cpp": "the date of the commit, as git tells it",
    "src/app/option_table.cpp": "what a user typed",
    "src/app/this_machine.cpp": "what ranks tell each other",
    "src/harness/bystanders.cpp": "files of the kernel",
    "src/models/memory_order/litmus.cpp": "litmus tests",
    "src/models/pipeline/answer.cpp": "what a user typed",
    "src/models/ptx/kernel.cpp": "PTX",
    "src/models/ptx/text.cpp": "PTX",
    "src/report/page_sections.cpp": "the picture that it has just drawn",
    "src/studies/pipeline/measured_rows.cpp": "CSV files",
    "src/studies/reduction/reading.cpp": "what a user typed",
}
PARSING = re.compile(r"\b(?:sto(?:i|l|ul|ll|ull|f|d|ld)|strto(?:d|f|ld|l|ul|ll|ull)|ato[filq]|from_chars|sscanf|json::parse)\s*\(")
COMMENT = re.compile(r"//[^\n]*")


def parsing_in(path):
    text = COMMENT.sub("", path.read_text())
    return [f"line {text.count(chr(10), 0, m.start()) + 1}: {m.group(0)}...)" for m in PARSING.finditer(text)]


def main():
    root = pathlib.Path(sys.argv[1])
    wrong, used = [], set()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".cu", ".cuh"):
                continue
            name = path.relative_to(root).as_posix()
            found = parsing_in(path)
            if name in ALLOWED:
                used.update([name] if found else [])
            else:
                wrong += [f"{name}, {one}" for one in found]
    wrong += [f"{name} parses nothing any more: take it out of the list" for name in sorted(set(ALLOWED) - used)]
    print("\n".join(wrong) or f"{len(used)} files parse text, each for its reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
