#!/usr/bin/env python3
"""Every link of a page to a file, a folder or a heading of this tree finds it; so does every path of a page or a comment that
names one under docs, and of a page that names a source. And every page under docs is linked by another page.

Usage: links.py SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"(?<![\w./-])docs/[\w./-]*\w\.(?:md|json|txt|svg|py|xz)\b")
SOURCE = re.compile(r"(?<![\w./-])(?:src|barriers|topology|tests|jobs|cmake|integrations)/[\w./-]*\w\.(?:cpp|hpp|cuh?|inc|csv|py|sh|sbatch|cmake)\b")
MADE_BY_RECIPES = pathlib.Path("docs/extending.md")


def anchors_of(text):
    """The anchors of a page's headings, as Markdown's renderers make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(root, page):
    """What the page names and nobody finds."""
    text = (root / page).read_text(errors="replace")
    for link in LINK.finditer(text) if page.suffix == ".md" else ():
        to = link[1] or link[2]
        if re.match(r"\w+:", to):
            continue
        path, _, anchor = to.partition("#")
        found = (root / page).parent / path if path else root / page
        if not found.exists():
            yield to
        elif anchor and found.suffix == ".md" and anchor not in anchors_of(found.read_text()):
            yield f"{to} (no such heading)"
    for name in SOURCE.findall(text) if page.suffix == ".md" and page != MADE_BY_RECIPES else ():
        if not (root / name).exists():
            yield name
    for name in NAMED.findall(text):
        if not (root / name).exists() and not (root / (name + ".xz")).exists():
            yield name


def unlinked(root, pages):
    """Pages under docs that a reader finds from no other page."""
    linked = {(root / page).parent.joinpath(link[1].partition("#")[0]).resolve() for page in pages if page.suffix == ".md"
              for link in LINK.finditer((root / page).read_text(errors="replace")) if link[1] and not link[1].startswith("#")
              and (root / page).parent.joinpath(link[1].partition("#")[0]).resolve() != (root / page).resolve()}
    return [page for page in pages if page.parts[0] == "docs" and page.suffix == ".md" and (root / page).resolve() not in linked]


def main():
    root = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else [str(p.relative_to(root)) for p in root.rglob("*.md")]
    pages = [pathlib.Path(name) for name in names if name.endswith((".md", ".cpp", ".hpp", ".cu", ".cuh", ".sh", ".py", ".sbatch"))]
    pages = [page for page in pages if (root / page).exists() and page.parts[:1] != ("build",)]
    failures = [f"{page}: {name}" for page in pages for name in broken(root, page)]
    failures += [f"{page}: no other page links it" for page in unlinked(root, pages)]
    print("\n".join(failures) or f"links: {len(pages)} pages and sources")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
