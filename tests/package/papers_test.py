#!/usr/bin/env python3
"""docs/papers.md has every row of the papers' tables, with a figure of today or the reason why there is none, and no typed figures.

Looked up are the rows of src/results/frame/papers.csv, under the heading of their paper and place, and the tables, figures and
equations that the papers have. package.documents holds the drawn tables against the raw files. Usage: papers_test.py ROOT
"""
import csv
import pathlib
import re
import sys

TABLES = {"000": "I II III IV V VI VII VIII", "001": "1 2 3 4 5 6 7 8 9 10", "003": "1 2", "004": "1"}
FIGURES = {"000": range(1, 20), "001": range(1, 14), "003": range(1, 2), "004": range(1, 7)}
EQUATIONS = {"000": range(1, 9), "001": range(1, 3), "003": range(1, 8), "004": range(1, 4)}
TYPED = re.compile(r"\b\d+\.\d+\b|\b\d+ (?:us|ns|ms|cycles?|GB/s|B/cycle|MHz|TFLOP/s)\b|\d+ %")
DRAWN = re.compile(r"<!-- drawn by: .*? -->\n.*?<!-- end -->", re.S)


def sections(page):
    """{"000, table I": its text}; what a heading says behind a colon is a title."""
    found = re.split(r"^### (.+)$", page, flags=re.M)
    return {title.split(":")[0]: text.split("\n## ")[0] for title, text in zip(found[1::2], found[2::2])}


def rows_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|") and not line.startswith(("|---", "| ---"))]


def numbers_in(words):
    """"1, 2 and 4 to 6" -> {1, 2, 4, 5, 6}."""
    found = set()
    for low, high in re.findall(r"(\d+)(?: to (\d+))?", words):
        found |= set(range(int(low), int(high or low) + 1))
    return found


def named(kind, paper, all_of):
    """The numbers of the figures or equations that a paper's sections name: in the heading, or in the first column below it, or in the text."""
    found = set()
    for title, text in all_of.items():
        if not title.startswith(f"{paper}, {kind}"):
            continue
        rows = rows_of(text) if title == f"{paper}, {kind}s" else []
        found |= numbers_in(title[len(f"{paper}, {kind}"):]) | set().union(*(numbers_in(row[0]) for row in rows))
        if title == f"{paper}, {kind}s" and not rows:
            found |= numbers_in(DRAWN.sub("", text))
    return found


def wrong(page, numbers):
    all_of = sections(page)
    for paper, tables in TABLES.items():
        for each in tables.split():
            if f"{paper}, table {each}" not in all_of:
                yield f"no section '{paper}, table {each}'"
    for kind, wanted in (("figure", FIGURES), ("equation", EQUATIONS)):
        for paper, some in wanted.items():
            for each in sorted(set(some) - named(kind, paper, all_of)):
                yield f"{kind} {each} of paper {paper} is not named"
    for paper, place, row in dict.fromkeys((one["paper"], one["place"], one["row"]) for one in numbers if one["paper"].isdigit()):
        lines = [line for line in rows_of(all_of.get(f"{paper}, {place}", "")) if line[0] == row]
        if not lines:
            yield f"row '{row}' of {place} of paper {paper} is not there"
    for title, text in all_of.items():
        for drawn in re.findall(r"<!-- drawn by: papers table .*?<!-- end -->", text, re.S):
            head, *rows = rows_of(drawn)
            today = [i for i, name in enumerate(head) if name in ("H100", "H200")]
            for row in rows:
                if all(row[i] == "-" for i in today) and not row[-1]:
                    yield f"{title}: '{row[0]}', {row[1]} has neither a figure of today nor a reason"
    for line in DRAWN.sub("", page).splitlines():
        if found := None if line.startswith("#") else TYPED.search(line):
            yield f"'{found.group()}' is typed, not drawn: {line[:80]}"


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs/papers.md").read_text()
    with open(root / "src/results/frame/papers.csv", encoding="utf-8") as lines:
        numbers = list(csv.DictReader(lines))
    findings = list(wrong(page, numbers))
    if findings:
        sys.exit("\n".join(f"docs/papers.md: {each}" for each in findings))
    # The test notices what it is for.
    for change, spoiled in {
            "a row that is left out": re.sub(r"^\| CUDA sample .*\n", "", page, flags=re.M),
            "a table that is left out": page.replace("### 001, table 8", "### 001, table eight"),
            "a figure that is left out": re.sub(r"^\| 17, 18 .*\n", "", page, flags=re.M),
            "a row without a reason": re.sub(r"^(\| CUDA sample \| bandwidth.*\| )[^|]+\|$", r"\1 |", page, flags=re.M),
            "a typed figure": page + "\nIt takes 12.5 us.\n"}.items():
        if spoiled == page or not list(wrong(spoiled, numbers)):
            sys.exit(f"{change} was not noticed")
    print(f"every row of {len(numbers)} numbers of the papers is there or says why not")


main()
