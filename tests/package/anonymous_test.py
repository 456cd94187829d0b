#!/usr/bin/env python3
"""Results, stores, CSV and pages of --anonymous tell neither the host's name nor paths nor the values of variables, and still tell
hosts apart. Usage: anonymous_test.py MGSYNC"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

MGSYNC = sys.argv[1]
SHORT = ["--device", "host", "--members", "1", "--backend", "openmp", "--max-time", "30ms", "--check-rounds", "100", "--oversubscribe"]


def run(*words):
    done = subprocess.run([MGSYNC, *map(str, words)], capture_output=True, text=True, timeout=300, check=False,
                          env=dict(os.environ, OMP_WAIT_POLICY="PaSsIvE"))
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout + done.stderr


def tells(text, folder):
    """What it should not say, as far as it says it. Short host names may be part of other words."""
    host = socket.gethostname()
    found = [word for word in (folder.name, "PaSsIvE") if word in text]
    return found + ([host] if re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", text) else [])


def main():
    with tempfile.TemporaryDirectory(prefix="telling-") as name:
        folder = pathlib.Path(name)
        document, store, table, page = (folder / file for file in ("a.json", "a.jsonl", "a.csv", "a.html"))
        printed = run(*SHORT, "--anonymous", "--json", document, "--store", store, "--csv", table)
        run(*SHORT, "--anonymous", "--store", store, "--resume")
        run("report", document, "--anonymous", "--html", page)
        plain, merged, telling = folder / "plain.json", folder / "merged.json", folder / "telling.html"
        run(*SHORT, "--json", plain)
        run("merge", plain, "--anonymous", "--json", merged, "--store", folder / "merged.jsonl")
        run("report", plain, "--anonymous", "--html", telling)
        run("study", "verify", "--device", "host", "--anonymous", "--json", folder / "study.json")
        for file in (document, store, table, page, merged, folder / "merged.jsonl", telling, folder / "study.json"):
            assert not tells(file.read_text(), folder), (file.name, tells(file.read_text(), folder))
        assert not tells(printed, folder), printed
        assert tells(plain.read_text(), folder) == [folder.name, "PaSsIvE", socket.gethostname()], "the test itself sees what is told"
        first, second = json.loads(document.read_text()), json.loads(merged.read_text())
        assert re.fullmatch("host-[0-9a-f]{10}", first["machine"]["host"]), first["machine"]
        assert first["machine"]["host"] == second["machine"]["host"], "one host has one pseudonym"
    print("anonymous: nothing is told")


main()
