#!/usr/bin/env python3
"""What a page tells a reader to type is accepted as it stands there. What measures runs with --dry-run, GPUs being those of a described
machine; what reads files runs where the files are in the repository. Left out are patterns (FILE, NAME, ...) and files of the reader's own.

Usage: typed_test.py MGSYNC SOURCE_TREE
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

COMMAND = r"(?:mpirun [^`\n]*?)?(?:build/\w+/)?mgsync"
INLINE = re.compile(rf"(?<!`)`({COMMAND} [^`]+)`")
IN_A_BLOCK = re.compile(rf"^    ({COMMAND}(?: [^\n]*)?)$", re.M)
PATTERN = re.compile(r"\.\.\.|[|;<>&$?\[\]]|(?<![\w-])(?:N|[A-Z]{3,}\w*)(?![\w%])|[A-Z]x[A-Z]|\*\.")
FILE = re.compile(r"(?:\./)?[\w./-]+\.(?:json|jsonl|xz|so|ptx|cubin|machine|xml|svg)")
READERS = ("show", "compare", "report", "advise", "merge", "audit", "check")
WITHOUT_DRY_RUN = (*READERS, "topology", "help", "completion", "list", "who")
ANSWERS = {"--help", "--version", "--simulate", "--gemm", "--attention", "--machine"}
OUTPUTS = {"--json", "--csv", "--store", "--html", "--svg", "--markdown", "--figures", "--line", "--junit", "--prometheus"}
OF_A_RECIPE = {"docs/extending.md"}  # its commands are of the backend and the study that it adds: recipes_test.py types them


def typed_in(text):
    """Every command of a page, without what stands before and behind it, but for patterns."""
    text = re.sub(r"<!--.*?-->\n(?s:.*?)<!-- end -->|<!--.*?-->", "", text).replace("\\\n", " ")
    for found in [*INLINE.findall(text), *IN_A_BLOCK.findall(text)]:
        command = re.sub(r"\s+#.*", "", re.sub(r"\s+", " ", found) if "\n" in found else found)
        command = re.sub(r"^mpirun .*?(?=(?:build/\w+/)?mgsync\b)", "", command)
        if not PATTERN.search(command):
            yield shlex.split(command)[1:]


def is_for_here(words, folder):
    """Whether what it reads is in the repository, and it needs no second node."""
    if "--nodes" in words:
        return False
    inputs = [part for before, word in zip(["", *words], words) if before not in OUTPUTS
              for part in word.split(",") if FILE.fullmatch(part)]
    return all((folder / part).exists() for part in inputs) and (bool(inputs) or not words or words[0] not in READERS)


def refused(program, words, folder, machine):
    """What is wrong with it, or nothing."""
    if "--processes" in words:  # runs processes, and takes no --dry-run
        at = words.index("--processes")
        words = words[:at] + words[at + 2:]
    dry = not (words and words[0] in WITHOUT_DRY_RUN or ANSWERS & set(words))
    tries = [[*words, "--dry-run"], [*words, "--dry-run", "--topology", machine]] if dry else [words]
    for each in tries:
        done = subprocess.run([program, *each], cwd=folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        if done.returncode in (0, 5):  # 5: compared, and slower
            return ""
    return f"exit {done.returncode}: {done.stderr.strip()[-300:]}"


def main():
    program, root = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    names = ["README.md", "CONTRIBUTING.md", "integrations/README.md",
             *(str(page.relative_to(root)) for page in sorted((root / "docs").rglob("*.md")))]
    typed, faults = {}, 0
    for name in names:
        text = (root / name).read_text()
        if name not in OF_A_RECIPE and not text.startswith("<!-- page by:"):
            typed |= {tuple(words): name for words in typed_in(text)}
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        (folder / "docs").symlink_to(root / "docs")
        for file in (root / "docs/results").iterdir():
            (folder / file.name).symlink_to(file)
        typed = {words: name for words, name in typed.items() if is_for_here(words, folder)}
        for words, name in typed.items():
            if wrong := refused(program, list(words), folder, root / "docs/results/h200x4/h200x4.machine"):
                faults += 1
                print(f"{name}: mgsync {shlex.join(words)}\n  {wrong}")
    assert len(typed) >= 60, typed
    print(f"{len(typed)} commands, {faults} not accepted")
    sys.exit(bool(faults))


main()
