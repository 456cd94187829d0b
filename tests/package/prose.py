#!/usr/bin/env python3
"""Pages stay short enough to be read: words of prose of each page and of all together, and rows of the tables of study pages.

Prose is what stands outside of tables, code, comments and what docs/draw.py draws. Counted are README.md and every page under docs.

Usage: prose.py ROOT. Prints what is too long, or with --list the words of each page, and exits with 1 where something is.
"""
import pathlib
import re
import sys

ALL = 20000  # words of all pages together
PAGE = 1100  # words of one page
ROWS = 40  # of a table on a study page


def lines_of_prose(text):
    if text.startswith("<!-- page by:"):
        return
    text = re.sub(r"<!-- drawn .*?<!-- end -->|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^\s*```.*?^\s*```\s*$", "", text, flags=re.M | re.S)
    blank, code = True, False
    for line in text.splitlines():
        code = line.startswith("    ") and (blank or code) and not re.match(r"\s+([-*]|\d+\.) ", line)
        if line.strip() and not code and not line.lstrip().startswith("|"):
            yield line
        blank = not line.strip()


def words_of(text):
    prose = re.sub(r"\]\([^)]*\)", "]", " ".join(lines_of_prose(text)))
    return len(re.findall(r"\S*\w\S*", prose))


def longest_table(text):
    return max([table.count("\n") - 2 for table in re.findall(r"(?:^\|.*\n)+", text, re.M)], default=0)


def too_long(pages):
    """Sentences on pages, given as names and texts."""
    for name, text in pages.items():
        if (words := words_of(text)) > PAGE:
            yield f"{name} has {words} words of prose; at most {PAGE} are accepted"
        if name.startswith("docs/studies/") and (rows := longest_table(text)) > ROWS:
            yield f"{name} has a table of {rows} rows; at most {ROWS} are accepted: long tables stand under docs/results"
    if (words := sum(map(words_of, pages.values()))) > ALL:
        yield f"the pages have {words} words of prose together; at most {ALL} are accepted: say once what is said twice"


def main():
    root = pathlib.Path(sys.argv[1])
    drawn = "<!-- drawn by: x -->\nmany words\n\n<!-- end -->\n"
    assert words_of(f"Two words.\n\n    code here\n\n{drawn}| a | b |\n\n```\ncode\n```\n- one [link](there.md)\n") == 4
    assert list(too_long({"docs/" + "a.md": "word " * (PAGE + 1)})), "the test cannot fail"
    assert list(too_long({f"docs/{i}.md": "word " * PAGE for i in range(ALL // PAGE + 1)})), "the test cannot fail"
    assert list(too_long({"docs/studies/" + "a.md": "| row |\n" * (ROWS + 3)})), "the test cannot fail"
    names = ["README.md", *sorted(str(page.relative_to(root)) for page in (root / "docs").rglob("*.md"))]
    pages = {name: (root / name).read_text() for name in names}
    if "--list" in sys.argv[2:]:
        print("\n".join(f"{words_of(text):6} {name}" for name, text in pages.items()))
    wrong = list(too_long(pages))
    print("\n".join(wrong) or f"{len(pages)} pages, {sum(map(words_of, pages.values()))} words of prose")
    sys.exit(1 if wrong else 0)


main()
