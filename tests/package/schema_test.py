#!/usr/bin/env python3
"""Every committed results file is what docs/results-schema.json says. Usage: schema_test.py SOURCES"""
import json
import lzma
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: no jsonschema 4 here (Debian: python3-jsonschema)")
    sys.exit(77)


def main():
    docs = pathlib.Path(sys.argv[1]) / "docs"
    validator = Draft202012Validator(json.loads((docs / "results-schema.json").read_text()))
    wrong, seen = [], 0
    for file in sorted(docs.glob("results/*/*.json.xz")):
        document = json.loads(lzma.open(file).read())
        for error in validator.iter_errors(document):
            wrong.append(f"{file.parent.name}/{file.name}: {error.json_path}: {error.message[:120]}")
            break
        seen += 1
    print(f"{seen} files", *wrong, sep="\n")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
