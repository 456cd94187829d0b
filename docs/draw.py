#!/usr/bin/env python3
"""Draws every table and picture of the documents from the raw files.

Between "<!-- drawn by: COMMAND -->" and "<!-- end -->" stands what COMMAND prints. After "<!-- picture by: COMMAND -->" the document shows the
file that COMMAND writes: its last word, or after --figures a picture in that folder. "drawn as text by:" shows what a terminal does. A page that
begins with "<!-- page by: COMMAND -->" is as a whole what COMMAND prints. Commands begin with "mgsync" and run in docs/results, or with
"papers", "ladder" or "library_forms", functions of papers.py, ladder.py and library_forms.py.
"""
import argparse
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import ladder
import library_forms
import papers

ROOT = pathlib.Path(__file__).resolve().parent.parent
RAW = ROOT / "docs/results"
BLOCK = re.compile(r"(<!-- drawn (as text )?by: ((?:mgsync|papers|ladder|library_forms) .*?) -->\n)(.*?)(<!-- end -->)", re.S)
PICTURE = re.compile(r"<!-- picture by: (mgsync .*?) -->")
PAGE = re.compile(r"\A<!-- page by: (mgsync .*?) -->\n")


def run(mgsync, words):
    if words[0] == "ladder":
        return ladder.table(*words[1:])
    if words[0] == "library_forms":
        return library_forms.TABLES[words[1]]()
    if words[0] == "papers":
        papers.run = functools.partial(run, mgsync)
        return papers.TABLES[words[1]](*words[2:])
    done = subprocess.run([mgsync, *words[1:]], cwd=RAW, capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode != 0:
        sys.exit(f"docs/draw.py: {shlex.join(words)}: {done.stderr.strip()}")
    return done.stdout


def drawn(mgsync, text):
    """The document as its commands draw it."""
    if page := PAGE.match(text):
        return page.group(0) + "\n" + run(mgsync, shlex.split(page.group(1)))

    def block(found):
        lines = run(mgsync, shlex.split(found.group(3))).strip()
        if found.group(2):
            lines = f"```text\n{lines}\n```"
        return f"{found.group(1)}\n{lines}\n\n{found.group(5)}"

    return BLOCK.sub(block, text)


def pictures(mgsync, text, folder):
    """(committed file, what its command writes) of every picture."""
    for found in PICTURE.finditer(text):
        words = shlex.split(found.group(1))
        target = (RAW / words[-1]).resolve()
        words[-1] = folder if words[-2] == "--figures" else os.path.join(folder, target.name)
        run(mgsync, words)
        yield target, pathlib.Path(folder, target.name).read_text()


def main():
    parser = argparse.ArgumentParser(prog="docs/draw.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mgsync", metavar="MGSYNC", help="the program, such as build/host/mgsync")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where a document differs from its raw files")
    asked = parser.parse_args()
    if not os.access(asked.mgsync, os.X_OK) or os.path.isdir(asked.mgsync):
        parser.error(f"'{asked.mgsync}' is no program; accepted: mgsync as it was built, such as build/host/mgsync")
    mgsync, check = os.path.abspath(asked.mgsync), asked.check
    different, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            text = document.read_text()
            wanted = [(document, drawn(mgsync, text)), *pictures(mgsync, text, folder)]
            count += len(BLOCK.findall(text)) + len(wanted) - 1 + bool(PAGE.match(text))
            for target, new in wanted:
                if target.exists() and target.read_text() == new:
                    continue
                different.append(str(target.relative_to(ROOT)))
                if not check:
                    target.write_text(new)
    if check and different:
        sys.exit(f"docs/draw.py: not what the raw files say: {', '.join(different)}; docs/draw.py build/host/mgsync draws them anew")
    print(f"docs/draw.py: {count} tables, pictures and pages, {len(different)} drawn anew")


if __name__ == "__main__":
    main()
