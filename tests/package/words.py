#!/usr/bin/env python3
"""One word for each idea: docs/glossary.md has every name of the typed tables, and no word of before is used any more.

Looked up in the glossary are the words that a reader meets in columns and verdicts: the JSON schema's keys of a result, and
the words of the enumerations in src/results. Words of before are looked for in every source, script and page but the
glossary, the changelog and the raw files.

Usage: words.py ROOT. Prints what is wrong, and exits with 1 where something is.
"""
import json
import pathlib
import re
import subprocess
import sys

# Word of before, and where it still means something else: a line that has one of these is no finding.
BEFORE = {
    r"prover|provers|[a-z_]+_prover|proofs?|unproven|disprov\w+": ("no proof of quiet",),
    r"prove[ns]?|proved|proving": ("compiler can prove", "Not proven to be the best", "not proven to be the best"),
    r"algorithm::place|check::place|gpu_place|thread_place|load_place": (),
    r"shown_words|numbers_in_words|multi_grid_words|cuda_words": (),
}
# Keys of a result in docs/results-schema.json that are explained there alone: they name no idea of their own.
PLAIN = {"file", "note", "reason", "name", "unit", "message", "text", "title", "value", "values", "key", "kind"}
SOURCES = re.compile(r"\.(cpp|hpp|cu|cuh|inc|c|h|py|sh|cmake|md|txt|in|json|yml|yaml)$")
LEFT_OUT = re.compile(r"^(docs/glossary\.md|CHANGELOG\.md|docs/results/.*\.(json|txt)|tests/fuzz/corpus/.*|tests/package/words\.py)$")


def tracked(root):
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return listed.stdout.splitlines()
    return [p.relative_to(root).as_posix() for top in ("src", "barriers", "topology", "tests", "docs", "jobs", "cmake")
            for p in (pathlib.Path(root) / top).rglob("*") if p.is_file()]


def words_of_before(root):
    for name in tracked(root):
        path = pathlib.Path(root) / name
        if not SOURCES.search(name) or LEFT_OUT.match(name) or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for words, elsewhere in BEFORE.items():
                found = re.search(rf"\b({words})\b", line)
                if found and not any(one in line for one in elsewhere):
                    yield f"{name}:{number}: '{found.group(1)}' is a word of before (docs/glossary.md, Words of before)"


def not_in_glossary(root):
    text = (pathlib.Path(root) / "docs/glossary.md").read_text()
    known = set()
    for row in re.findall(r"^\| (\*\*.*?) \| ", text, re.M):
        for word in re.findall(r"\*\*(.+?)\*\*", row):
            known |= {word, word + "s", word.replace(" ", "_")}
    known |= {word for word in re.findall(r"`([\w%]+)`", text)}
    schema = json.loads((pathlib.Path(root) / "docs/results-schema.json").read_text())
    result = schema["properties"]["results"]["items"]
    if "$ref" in result:
        result = schema["$defs"][result["$ref"].rsplit("/", 1)[1]]
    for key in sorted(set(result["properties"]) - PLAIN - known):
        yield f"docs/glossary.md has no '{key}', which every result in docs/results-schema.json may have"


def main():
    root = sys.argv[1]
    wrong = [*words_of_before(root), *not_in_glossary(root)]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
