#!/usr/bin/env python3
"""mgsync report on the acceptances of a fleet: planted outliers are found and no others, the page stays small and needs no
network. Usage: fleet_test.py MGSYNC [NODES] [DAYS]"""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

MGSYNC = sys.argv[1]
NODES, DAYS = int(sys.argv[2]) if len(sys.argv) > 2 else 256, int(sys.argv[3]) if len(sys.argv) > 3 else 3
PARTS = {"gpu": "GPU {}", "late": "GPU {} with every other GPU", "pair": "GPUs {} and {}", "node": "all 4 GPUs"}


def report(*words):
    done = subprocess.run([MGSYNC, "report", *map(str, words)], capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    lines = work / "nodes.jsonl"
    made = subprocess.run([sys.executable, pathlib.Path(__file__).parent / "made_up_fleet.py", str(NODES), str(DAYS), lines],
                          capture_output=True, text=True, check=True)
    planted = json.loads(made.stdout)
    began = time.monotonic()
    text = report(lines).stdout
    took = time.monotonic() - began
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    table = text.split("Outliers by node, GPU and pair")[1].split("\n\n")[0]
    found = {}
    for row in re.findall(r"^\s*(n\d+)\s\s+(.+?)\s\s+", table, re.M):
        found.setdefault(row[0], set()).add(row[1])
    for node, (kind, which) in planted.items():
        where = PARTS[kind].format(*(which if isinstance(which, list) else [which]))
        assert found.get(node) == {where}, (node, where, found.get(node))
    others = set(found) - set(planted)
    # A further value of a normal fleet is taken for an outlier in one of a hundred reports.
    assert len(others) <= 1, others
    assert f"{NODES} nodes, {NODES * DAYS} acceptances on {DAYS} days: by its latest one {NODES - len(planted)} of the nodes are normal." in text, text[:400]
    assert "the whole fleet is slower" in text.split("Days")[1].split("\n\n")[0], "the last day's shift is told"
    assert "Nodes that have changed" not in text, "the fleet's shift is no node's change"
    # Several files are one fleet; what is no acceptance is refused.
    half = lines.read_text().splitlines(keepends=True)
    first, second = work / "a.jsonl", work / "b.jsonl"
    first.write_text("".join(half[:len(half) // 2]))
    second.write_text("".join(half[len(half) // 2:]))
    page = work / "fleet.html"
    report(first, second, "--html", page)
    html = page.read_text()
    assert len(html) <= 5 << 20, len(html)
    assert html.count("<rect ") >= NODES and "Map of the fleet" in html and "fleet-trend" in html
    assert "http-equiv" in html and "src=\"http" not in html
    other = work / "other.json"
    other.write_text("{}")
    refused = subprocess.run([MGSYNC, "report", lines, other], capture_output=True, text=True, timeout=280, check=False)
    assert refused.returncode == 2 and "other.json" in refused.stderr, refused
    torn, first_20 = work / "torn.jsonl", work / "first.jsonl"
    first_20.write_text("".join(half[:20]))
    torn.write_text(half[0] + half[1][:200])
    told = report(torn)
    assert "1 acceptance of the node " in told.stdout and "torn.jsonl, line 2: no whole JSON" in told.stderr, told
    beside = report(torn, pathlib.Path(__file__).parents[2] / "docs/results/h200x1/library-rounds.json.xz")
    assert "torn.jsonl, line 2: no whole JSON" in beside.stderr, beside.stderr
    for number, layout in enumerate(({}, {"sort_keys": True}, {"sort_keys": True, "indent": 2})):
        other_layout = work / f"layout-{number}.jsonl"
        other_layout.write_text("".join(json.dumps(json.loads(line), **layout) + "\n" for line in half[:20]))
        assert report(other_layout).stdout == report(first_20).stdout, layout
    # A node that gets slower by little each day is told, alone and beside others that do not.
    for names in (["n7"], [f"n{number}" for number in range(6)] + ["n7"]):
        drifting = work / "drifting.jsonl"
        with open(drifting, "w") as out:
            for day in range(14):
                for name in names:
                    record = json.loads(half[0]) | {"node": name, "started": f"2026-11-{day + 1:02}T03:00:00Z"}
                    for p in record["points"]:
                        p["us"] = 1 + 0.004 * day * (name == "n7") + 0.0001 * (day % 3)
                    out.write(json.dumps(record, separators=(",", ":")) + "\n")
        told = report(drifting).stdout
        assert re.search(r"(It|n7) has become 5.[0-9] % slower from 2026-11-01 to 2026-11-14", told), told[:600]
        assert told.count("has become") == 1 and "Nodes that drift" in told, told
    # What is beyond its limit is not near to it.
    record = json.loads(half[0])
    record["points"][0] |= {"times": 300}
    drifting.write_text(json.dumps(record))
    assert "Furthest beyond its limit was multigrid:auto at 4x256: 300.00 times" in report(drifting).stdout, report(drifting).stdout
    # Beside results they are a section of their page, which then says whether the nodes are normal.
    results = pathlib.Path(__file__).parents[2] / "docs/results/h200x1/library-rounds.json.xz"
    for order in ((lines, results), (results, lines)):
        beside = report(*order).stdout
        assert "== Acceptances" in beside and "not judged here" not in beside and f"{NODES} nodes, " in beside, beside[:900]
    # In a folder they stand on the page of their kind of machine; of a kind that has no page this is said.
    published = results.parent / "accept.jsonl"
    told = report(results, published, lines, "--html", f"{work}/pages/").stderr
    assert f"{NODES * DAYS} acceptances are of no machine among these results" in told, told
    pages = [page.read_text() for page in (work / "pages").glob("*.html") if page.name != "index.html"]
    count = len(published.read_text().splitlines())
    assert [page.count(f"{count} acceptances of the node ") > 0 for page in pages] == [True], len(pages)
    one = work / "one.jsonl"
    one.write_text("".join(line for line in half if json.loads(line)["node"] == json.loads(half[0])["node"]))
    told = report(one, "--anonymous").stdout
    assert re.match(f"{DAYS} acceptances of the node host-[0-9a-f]{{10}} \\(GPU-[0-9a-f]{{10}}, GPU-[0-9a-f]{{10}}, \\.\\.\\.\\) on {DAYS} days: [0-9] of them found it normal, the latest one ", told), told[:200]
    # What each column says stands with the table, and what the node was held against both there and in the sentence.
    point = json.loads(one.read_text().splitlines()[-1])["points"][0]
    table = told[told.index("What the node has of each point"):]
    for word in ("Together: ", "Values: ", "Reference, us: ", "Times: ", "limit: ", "Among themselves: "):
        assert word in table, (word, table)
    row = next(line for line in table.splitlines() if f" {point['subject']} " in line and f" {point['shape']} " in line)
    assert f"{point['base_us']:.3f}" in row and f"{point['limit']:.2f}" in row, (row, point)
    assert "Nearest to its limit came " in told, told[:600]
    # Where the reference was measured decides what "normal" says.
    assert "on which machine they were measured these acceptances do not say" in told, told[:600]
    for against, words in (("this machine", "measured on this machine itself: they tell whether it has changed"),
                           ("other machines", "measured on other machines.")):
        records = [json.loads(line) | {"against": against, "gpus": ["GPU-1a", "GPU-2b", "GPU-3c"]} for line in one.read_text().splitlines()]
        one.write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records))
        told = report(one).stdout
        assert words in told.replace("\n", " ") and " (GPU-1a, GPU-2b, ...) on " in told, told[:600]
    print(f"{NODES} nodes, {DAYS} days: {took:.1f} s, {memory:.0f} MiB, page {len(html) / 1e6:.2f} MB, {len(planted)} planted found, "
          f"{len(others)} others")
