#!/usr/bin/env python3
"""The documents are what their raw files say; and a changed number is noticed. Usage: documents_test.py MGSYNC SOURCES"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

mgsync, sources = sys.argv[1], pathlib.Path(sys.argv[2])


def check(root):
    return subprocess.run([sys.executable, root / "docs/draw.py", mgsync, "--check"], capture_output=True, text=True, check=False)


done = check(sources)
if done.returncode != 0:
    sys.exit(done.stderr)
print(done.stdout.strip())
with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    shutil.copytree(sources / "docs", root / "docs", ignore=shutil.ignore_patterns("*.md"))  # they were right a moment ago
    page = (sources / "README.md").read_text()
    begin = page.index("<!-- drawn as text by:")
    digit = next(i for i in range(page.index("-->", begin) + 200, len(page)) if page[i] in "123456789")
    (root / "README.md").write_text(page[:digit] + str((int(page[digit]) + 1) % 10) + page[digit + 1:])
    done = check(root)
    if done.returncode != 1 or "README.md" not in done.stderr:
        sys.exit(f"a changed number was not noticed: {done.stdout}{done.stderr}")
print("a changed number is noticed")
