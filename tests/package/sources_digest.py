#!/usr/bin/env python3
"""Results name the sources that they were measured with: the digest in each document of docs/results that has one is
that of the commit it names.

Usage: sources_digest.py CMAKE ROOT. Exits with 1 when a document is wrong, with 77 where nothing could be looked at
(no repository, or a shallow clone without the commits).
"""
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile


def digest_of_folder(cmake, root, folder):
    return subprocess.run([cmake, "-D", f"ROOT={folder}", "-P", f"{root}/cmake/source_digest.cmake"], check=True,
                          capture_output=True, text=True).stdout.strip()


def digest_of_commit(cmake, root, commit):
    """None: the commit is not in this clone."""
    known = subprocess.run(["git", "-C", root, "cat-file", "-e", f"{commit}^{{commit}}"], capture_output=True)
    if known.returncode != 0:
        return None
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", root, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
        return digest_of_folder(cmake, root, folder)


def complaint(document, digest_of):
    """What is wrong with a document; None: nothing. Raises LookupError where its commit is not here."""
    told = document.get("settings", {}).get("sources")
    if told is None:
        return None
    named = re.search(r"\(([0-9a-f]{7,40})[^)]*\)", document["machine"]["mgsync"])
    if named is None:
        return "names no commit"
    digest = digest_of(named.group(1))
    if digest is None:
        raise LookupError(f"commit {named.group(1)} is not in this clone")
    return None if digest == told else f"says sources {told}, and commit {named.group(1)} has {digest}"


def read(path):
    opened = lzma.open(path, "rt") if path.suffix == ".xz" else open(path)
    with opened as file:
        return json.load(file)


def main(cmake, root):
    head = digest_of_commit(cmake, root, "HEAD")
    if head is None:
        print("skipped: no repository here")
        return 77
    # The twins: a digest of other sources, and no commit, are found out.
    true = {"settings": {"sources": head}, "machine": {"mgsync": "0.1.0 (0123abc)"}}
    false = {"settings": {"sources": "0" * 64}, "machine": {"mgsync": "0.1.0 (0123abc)"}}
    nameless = {"settings": {"sources": head}, "machine": {"mgsync": "0.1.0 ()"}}
    assert complaint(true, lambda commit: head) is None
    assert complaint(false, lambda commit: head) and complaint(nameless, lambda commit: head)
    clean = subprocess.run(["git", "-C", root, "status", "--porcelain", "--", "barriers", "cmake", "src", "topology",
                            "CMakeLists.txt"], check=True, capture_output=True, text=True).stdout == ""
    if clean and digest_of_folder(cmake, root, root) != head:
        print("the digest of this folder is not that of its commit")
        return 1
    wrong, looked, absent = 0, 0, []
    for path in sorted(pathlib.Path(root, "docs", "results").glob("*")):
        if not path.name.endswith((".json", ".json.xz")):
            continue
        document = read(path)
        if not isinstance(document, dict) or "settings" not in document:
            continue
        try:
            if said := complaint(document, lambda commit: digest_of_commit(cmake, root, commit)):
                print(f"{path.name}: {said}")
                wrong += 1
            looked += "sources" in document["settings"]
        except LookupError as error:
            absent.append(f"{path.name}: {error}")
    print("\n".join(absent + [f"{looked} documents name their sources, {wrong} of them wrongly"]))
    return 1 if wrong else 77 if absent else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
