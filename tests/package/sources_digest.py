#!/usr/bin/env python3
"""Results name the sources that they were measured with: each mgsync-results/2 document of docs/results that mgsync wrote
has a digest, and it is that of the commit which the document names. What names a commit that did not land is listed in
docs/results/README.md, for readers, and nothing else is there.

Usage: sources_digest.py CMAKE ROOT. Exits with 1 when a document is wrong, with 77 where nothing could be looked at
(no repository, or a shallow clone without the commits).
"""
import functools
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile


# Converted from files that were written before a document named its sources, or by programs that were no part of mgsync;
# no document that mgsync wrote is added here.
OLDER = {"h200x2/jacobi-variants.json.xz", "h200x2/late-fence-before.json.xz", "h200x2/loadlab.json.xz", "h200x2/nccl-hub.json.xz",
         "h200x2/nccl-pairs.json.xz", "h200x2/sync-variants.json.xz", "h200x2/verdict-pairs.json.xz",
         "h200x2/word-pairs.json.xz", "h200x4/all-backends.json.xz", "h200x4/gpu-barriers.json.xz",
         "h200x4/library-before.json.xz", "h200x4/library.json.xz", "h200x4/line-transfer.json.xz",
         "h200x4/stencil.json.xz", "h200x4/sync-cost.json.xz", "host32/quiet.json.xz",
         "host64/64-ranks.json.xz", "host64/one-process.json.xz"}


def digest_of_folder(cmake, root, folder):
    return subprocess.run([cmake, "-D", f"ROOT={folder}", "-P", f"{root}/cmake/source_digest.cmake"], check=True,
                          capture_output=True, text=True).stdout.strip()


@functools.cache
def digest_of_commit(cmake, root, commit):
    """None: the commit is not in this history. A clone by hard links may have more commits than others get."""
    known = subprocess.run(["git", "-C", root, "merge-base", "--is-ancestor", commit, "HEAD"], capture_output=True)
    if known.returncode != 0:
        return None
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", root, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
        return digest_of_folder(cmake, root, folder)


def told_as_lost(page):
    """Documents and the commits that they name, from the page's rows."""
    return dict(re.findall(r"^\| (\S+\.json\.xz) \| ([0-9a-f]{7,40}) \|$", page, re.M))


def complaint(document, digest_of):
    """What is wrong with a document; None: nothing. Raises LookupError with its commit where that is not here."""
    if document.get("schema") != "mgsync-results/2":
        return None
    told = document["settings"].get("sources")
    if told is None:
        return "names no sources"
    named = re.search(r"\(([0-9a-f]{7,40})[^)]*\)", document["machine"]["mgsync"])
    if named is None:
        return "names no commit"
    digest = digest_of(named.group(1))
    if digest is None:
        raise LookupError(named.group(1))
    return None if digest == told else f"says sources {told}, and commit {named.group(1)} has {digest}"


def main(cmake, root):
    head = digest_of_commit(cmake, root, "HEAD")
    if head is None:
        print("skipped: no repository here")
        return 77
    def digest_of(commit):
        return digest_of_commit(cmake, root, commit)

    shallow = subprocess.run(["git", "-C", root, "rev-parse", "--is-shallow-repository"], check=True, capture_output=True,
                             text=True).stdout.strip() == "true"
    clean = subprocess.run(["git", "-C", root, "status", "--porcelain", "--", "barriers", "cmake", "src", "topology",
                            "CMakeLists.txt"], check=True, capture_output=True, text=True).stdout == ""
    if clean and digest_of_folder(cmake, root, root) != head:
        print("the digest of this folder is not that of its commit")
        return 1
    lost = told_as_lost(pathlib.Path(root, "docs/results/README.md").read_text(encoding="utf-8"))
    wrong, looked, absent, told = 0, 0, 0, set()
    for path in sorted(pathlib.Path(root, "docs/results").glob("*/*.json.xz")):
        name = f"{path.parent.name}/{path.name}"
        document = json.loads(lzma.open(path, "rt").read())
        if not isinstance(document, dict) or document.get("schema") != "mgsync-results/2":
            continue
        if name in OLDER and complaint(document, digest_of) == "names no sources":
            continue
        try:
            if said := complaint(document, digest_of):
                print(f"{name}: {said}")
                wrong += 1
            looked += 1
        except LookupError as error:
            (commit,) = error.args
            if lost.get(name) == commit:
                told.add(name)
                continue
            print(f"{name}: commit {commit} is not in this history")
            absent += 1
            continue
        # The twins of a true document: other sources, none, and no commit are found out.
        for key, value in {"sources": "0" * 64, "no": None, "commit": "0.1.0 ()"}.items():
            twin = {"schema": document["schema"], "settings": dict(document["settings"]), "machine": dict(document["machine"])}
            if key == "commit":
                twin["machine"]["mgsync"] = value
            else:
                twin["settings"].update({"sources": value})
            assert complaint(twin, digest_of), (name, key)
    if not shallow:
        for name in sorted(set(lost) - told):
            print(f"{name}: docs/results/README.md says that its commit did not land, and it is here, or names another")
            wrong += 1
    print(f"{len(told)} documents name commits that did not land, as docs/results/README.md says")
    print(f"{looked} documents name their sources, {wrong} of them wrongly, {absent} of commits that are not here")
    # A whole clone has the commits of what it publishes.
    return 1 if wrong or (absent and not shallow) else 77 if absent or looked == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
