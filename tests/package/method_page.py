#!/usr/bin/env python3
"""docs/method.md is where the code says it is: every `docs/method.md, "Section"` names a section of the page.

Usage: method_page.py ROOT. Prints every reference to a section or page that is not there, and exits with 1 when there is one.
"""
import pathlib
import re
import sys

SOURCES = (".hpp", ".cpp", ".cu", ".cuh", ".h", ".md", ".py", ".sh", ".txt", ".cmake")
REFERENCE = re.compile(r'docs/method\.md(?:,? "([^"]+)")?')


def unwrapped(text):
    """Comments as one line: a section's name may stand on two."""
    return re.sub(r"\s*\n\s*(//|#|\*)?\s*", " ", text)


def wrong_references(path, text, sections):
    if re.search(r"\bMETHOD\.md", text):
        yield f"{path}: refers to a METHOD.md; the page is docs/method.md"
    for section in REFERENCE.findall(unwrapped(text)):
        if section and section not in sections:
            yield f'{path}: docs/method.md has no section "{section}"; it has: {", ".join(sections)}'


def main():
    root = pathlib.Path(sys.argv[1])
    sections = re.findall(r"^## (.+)$", (root / "docs/method.md").read_text(), re.M)
    old_page = "METHOD" + ".md"
    assert list(wrong_references("x.hpp", f"// {old_page} section 1", sections)), "the test cannot fail"
    assert list(wrong_references("x.hpp", '// (docs/method.md, "No such\n// section")', sections)), "the test cannot fail"
    files = [f for top in ("src", "topology", "barriers", "tests", "docs", "jobs", "cmake")
             for f in sorted((root / top).rglob("*")) if f.suffix in SOURCES] + [root / "README.md"]
    this = pathlib.Path(__file__).resolve()
    texts = {f: f.read_text() for f in files if f.resolve() != this}
    errors = [e for f, text in texts.items() for e in wrong_references(f.relative_to(root), text, sections)]
    references = sum(len(REFERENCE.findall(text)) for text in texts.values())
    print("\n".join(errors) if errors else f"{references} references to docs/method.md, each to a section that is there")
    return 1 if errors or references == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
