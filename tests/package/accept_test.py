#!/usr/bin/env python3
"""mgsync accept: what it says of described machines and their faults, and of this machine, whose host members stand in for
GPUs, held against results of its own that were made faster or slower. Usage: accept_test.py MGSYNC SOURCES"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

MGSYNC, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])


def accept(*words, code, **environment):
    done = subprocess.run([MGSYNC, "accept", *map(str, words)], capture_output=True, text=True, timeout=280, check=False,
                          env={**os.environ, **environment})
    assert code in (None, done.returncode), (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if code != 2 else done.stderr


def described(name, change=None):
    """The machine description, as it is or with a fault."""
    machine = json.loads((SOURCES / "docs/results" / name).read_text())
    if change:
        change(machine)
    file = work / f"{len(list(work.iterdir()))}-{pathlib.Path(name).name}"
    file.write_text(json.dumps(machine))
    return file


def plans():
    for name, gpus, most in (("h200x2/h200x2.machine", 2, 25), ("h200x4/h200x4.machine", 4, 60)):
        out = accept("--dry-run", "--topology", SOURCES / "docs/results" / name, code=0)
        points, seconds = int(out.split("\n")[1].split()[0]), int(out.split("about ")[1].split()[0])
        assert seconds <= most, out
        every = accept("--dry-run", "--verbose", "--topology", SOURCES / "docs/results" / name, code=0)
        assert all(f"GPU {{{gpu}}}" in every for gpu in range(gpus)), every
        assert every.count(" us, at most ") == points, every
    assert all(f"GPUs {{{a},{b}}}" in every for a in range(4) for b in range(a + 1, 4)), every

    def first_alone(machine):
        machine["gpus"], machine["links"] = machine["gpus"][:1], machine["links"][:1]
    known = ",".join(str(SOURCES / f"docs/results/{name}.json.xz") for name in ("h200x2/barriers", "h200x2/sweep", "h200x1/grid-barriers"))
    single = accept("--dry-run", "--verbose", "--topology", described("h200x2/h200x2.machine", first_alone), "--across", "machines",
                    "--against", known, code=0)
    assert "GPU {0}" in single and "GPUs" not in single and single.count(" us, at most ") == 6, single
    assert " b1x" not in single, single  # a block in all sees one multiprocessor
    said = accept("--topology", SOURCES / "docs/results/h200x2/h200x2.machine", code=2)
    assert "--dry-run" in said, said


def faults():
    def fewer_links(machine):
        machine["links"][1]["width"] = 17

    def fewer_links_everywhere(machine):
        for link in machine["links"]:
            link["width"] = 12

    def fewer_lanes(machine):
        machine["gpus"][0]["pcie_gbps"] = 31.5

    def far(gpu):
        def change(machine):  # the GPU is near CPUs that this process may not use
            machine["gpus"][gpu]["near_cpus"] = "16-31"
            machine["allowed_cpus"] = "0-15"
            for other in machine["gpus"]:
                if other["id"] != gpu:
                    other["near_cpus"] = "0-15"
        return change

    def one_cpu(machine):  # two GPUs, whose threads would share it
        machine["allowed_cpus"] = "3"

    for change, what in ((fewer_links, "GPU 1 has 17 active NVLinks; others of its kind have 18."), (fewer_links_everywhere, "GPU 0 has 12"),
                         (fewer_lanes, "GPU 0 has 31.5 GB/s of PCIe")):
        out = accept("--dry-run", "--topology", described("h200x2/h200x2.machine", change), code=5)
        assert out.startswith("This node is not normal, and was not measured: ") and what in out and "Look further: " in out, out
        assert out.count("\n") == 1, out
    # Also where a reference is asked for that is not there.
    out = accept("--dry-run", "--topology", described("h200x2/h200x2.machine", fewer_links), code=5, MGSYNC_REFERENCE="/nonexistent")
    assert "GPU 1 has 17 active NVLinks" in out, out
    # How this process is bound says nothing of the node.
    for change, what in ((one_cpu, "may use 1 core(s) (CPUs 3) for 2 members"), (far(0), "none of which is near its GPU 0"),
                         (far(1), "none of which is near its GPU 1")):
        out = accept("--dry-run", "--topology", described("h200x2/h200x2.machine", change), code=4)
        assert out.startswith("Whether this node is normal cannot be told: it was not measured. ") and what in out and "To change: " in out, out
        assert out.count("\n") == 1, out


def lost():
    """A node with fewer GPUs than others of its kind has lost some, whatever it is held against."""
    def without(count):
        def change(machine):
            machine["gpus"] = machine["gpus"][:count]
            machine["links"] = []
        return change

    four, all_four = SOURCES / "docs/results/h200x4/barriers.json.xz", SOURCES / "docs/results/h200x4/h200x4.machine"
    three, none = described("h200x4/h200x4.machine", without(3)), described("h200x4/h200x4.machine", without(0))
    folder = work / "of-four"
    folder.mkdir()
    (folder / four.name).write_bytes(four.read_bytes())
    (folder / "README").write_text("Of the four good ones.\n")
    for words, environment in ((("--against", four), {}), (("--against", f"{four},{all_four}"), {}), ((), {"MGSYNC_REFERENCE": str(folder)}), ((), {})):
        out = accept("--dry-run", "--topology", three, *words, code=5, **environment)
        assert "shows 3 GPUs; a node of its kind has 4." in out and out.count("\n") == 1 and out.count("shows 3") == 1, out
    out = accept("--dry-run", "--topology", none, "--against", four, code=5)
    assert "shows no GPU; a node of its kind has 4." in out, out
    # A description beside the results tells of links, and stands for none of them.
    def fewer_links_everywhere(machine):
        for link in machine["links"]:
            link["width"] = 12
    weak = described("h200x4/h200x4.machine", fewer_links_everywhere)
    accept("--dry-run", "--topology", weak, "--against", four, code=0)
    out = accept("--dry-run", "--topology", weak, "--against", f"{four},{all_four}", code=5)
    assert "GPU 0 has 12 active NVLinks" in out, out
    said = accept("--dry-run", "--topology", all_four, "--against", all_four, code=2)
    assert "accepted: with them files of --json" in said, said


def made(base, times, doubts=()):
    """A results file as fast as base's times so many, measured on a quiet machine, or with these doubts."""
    document = json.loads(base.read_text())
    for result in document["results"]:
        for metric in result["metrics"].values():
            for key in ("median", "ci95_low", "ci95_high", "min", "max"):
                metric[key] *= times
            metric["raw"] = [metric["median"]] * 7
        result["doubts"] = list(doubts)
    file = work / f"times-{times}-{len(doubts)}.json"
    file.write_text(json.dumps(document))
    return file


def judged(lines, *words, code):
    """The record of a run that ends with this code, or says that a busy machine leaves it uncertain."""
    out = accept("--device", "host", "--within", "15s", "--line", lines, *words, code=None)
    record = json.loads(lines.read_text().splitlines()[-1])
    assert record["schema"] == "mgsync-accept/1" and record["points"] and record["node"], record
    unsure = [p for p in record["points"] if p["state"] == "unsure"]
    assert record["exit_code"] == code or (record["exit_code"] == 4 and unsure), (code, out, record)
    assert out.splitlines()[-1] == record["sentence"], (out, record)
    return record, out


def forms(record, junit, prom):
    """What others read says what the record says, by their rules."""
    suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
    cases = suite.findall("testcase")
    assert len(cases) == len(record["points"]) + 1 == int(suite.get("tests")), suite.attrib
    for what, states in (("failure", ("slow", "broken")), ("skipped", ("unsure", "no number"))):
        told = [c for c in cases if c.find(what) is not None]
        key = "failures" if what == "failure" else what
        assert len(told) == int(suite.get(key)) == len([p for p in record["points"] if p["state"] in states]), (what, record)
    assert suite.get("hostname") == record["node"] and suite.find("system-out").text == record["sentence"]
    described_names, typed, values = set(), set(), {}
    for line in prom.read_text().splitlines():
        if line.startswith("# HELP "):
            described_names.add(line.split()[2])
        elif line.startswith("# TYPE "):
            assert line.split()[3] == "gauge", line
            typed.add(line.split()[2])
        else:  # name{labels} value, and no time stamp
            match = re.fullmatch(r'([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\\]|\\\\.)*",?)*\})? ([0-9.e+-]+)', line)
            assert match, line
            assert match[1] in described_names & typed, line
            assert match[1] + (match[2] or "") not in values, line
            values[match[1] + (match[2] or "")] = float(match[3])
    assert values[f'mgsync_accept_verdict{{verdict="{record["verdict"]}"}}'] == 1 and values["mgsync_accept_exit_code"] == record["exit_code"]
    assert sum(v for k, v in values.items() if k.startswith("mgsync_accept_verdict")) == 1
    assert abs(values["mgsync_accept_completion_time_seconds"] - time.time()) < 600
    with_number = [p for p in record["points"] if p.get("us")]
    assert len([k for k in values if k.startswith("mgsync_accept_latency_seconds")]) == len(with_number)
    for p in with_number:
        name = f'mgsync_accept_latency_seconds{{part="{p["part"]}",subject="{p["subject"]}",shape="{p["shape"]}"}}'
        assert math.isclose(values[name], p["us"] * 1e-6, rel_tol=1e-6), (name, p)


def refusals(base):
    """What is refused before anything is measured, by a sentence that says why."""
    fast = made(base, 1000)
    busy = made(base, 1000, [{"kind": "load", "amount": 9, "text": "9 runnable threads for 2 hardware threads"}])
    said = accept("--device", "host", "--against", busy, code=2)
    assert "mean little: 9 runnable threads" in said and "accepted: --against files that were measured while nothing else ran" in said, said
    some = accept("--device", "host", "--against", f"{busy},{fast}", "--dry-run", code=0)
    assert "note: left out of the 2 reference files: " in some and "mean little: 9 runnable threads" in some, some
    short = json.loads(fast.read_text())
    for result in short["results"]:
        for metric in result["metrics"].values():
            metric["raw"] = metric["raw"][:1]
    (work / "short.json").write_text(json.dumps(short))
    said = accept("--device", "host", "--against", work / "short.json", code=2)
    assert re.search(r"[1-9]\d* points? of the 1 reference file (is|are) of one batch only, .*--max-time", said), said
    table = work / "known.csv"
    table.write_text("grid:auto,1,*,5%\nopenmp:runtime,2,1,0.1\nmultigrid:hub,8,4x256,10%\n")
    accept("--device", "host", "--against", fast, "--thresholds", table, "--dry-run", code=0)
    for wrong in ("multigrd:auto", "multigrid", "multigrid:"):
        table.write_text(f"{wrong},2,*,10%\n")
        said = accept("--device", "host", "--against", fast, "--thresholds", table, code=2)
        assert f"known.csv, line 1: '{wrong}' is no barrier" in said and said.count("\n") == 1, said
    for words, what in ((("--line", "/nonexistent/x.jsonl"), "--line /nonexistent/x.jsonl: no file can be created"),
                        (("--prometheus", "/nonexistent/x.prom"), "--prometheus /nonexistent/x.prom: no file can be created"),
                        (("--json", fast), "is a file that this command reads")):
        said = accept("--device", "host", "--against", fast, *words, code=2)
        assert what in said and said.count("\n") == 1, said
    said = accept("--device", "host", "--against", fast, code=2, OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2")
    assert "by one process, and Open MPI started 2; accepted: " in said, said
    # The form of the commands to look further, which a busy machine is not told.
    subprocess.run([MGSYNC, *"--device host --members 2 --backend openmp:runtime --shape 1x1 --max-time 5s --dry-run".split()],
                   check=True, capture_output=True, timeout=280)
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[:1])
    try:
        said = accept("--device", "host", "--against", fast, code=4)
    finally:
        os.sched_setaffinity(0, allowed)
    assert "it was not measured. " in said and f"may use 1 hardware thread (CPUs {allowed[0]}), and the reference has barriers of 2" in said, said


def this_machine():
    base = work / "base.json"
    run = subprocess.run([MGSYNC, "--device", "host", "--members", "2", "--backend", "default", "--max-time", "100ms",
                          "--check-rounds", "200", "--json", base], capture_output=True, text=True, timeout=280, check=False)
    if not base.exists() or not any(r["status"] == "measured" for r in json.loads(base.read_text())["results"]):
        print("no two host members can be measured here")
        return
    refusals(base)
    lines = work / "node.jsonl"
    slow, fast = made(base, 0.001), made(base, 1000)
    # A thousand times: a busy machine changes no verdict.
    junit, prom = work / "node.xml", work / "node.prom"
    record, out = judged(lines, "--against", fast, "--json", work / "here.json", "--junit", junit, "--prometheus", prom, code=0)
    forms(record, junit, prom)
    assert record["exit_code"] != 0 or out.startswith("This node is normal: ") and out.count("\n") == 1, out
    assert record["against"] == "this machine", record
    here = json.loads((work / "here.json").read_text())
    subjects = {r["subject"] + (":" + r["variant"] if r["variant"] else "") for r in here["results"]}
    assert {p["subject"] for p in record["points"]} == subjects, "exactly what is judged is measured"
    record, out = judged(lines, "--against", f"{slow},{slow}", "--verbose", code=5)
    if record["exit_code"] == 5:
        assert "This node is not normal: slow: all 2 host members" in out and "Look further: mgsync --device host --members 2 --backend " in out, out
        assert record["suspects"][0]["part"] == "all 2 host members", record
        further = record["suspects"][0]["command"].split()[1:]
        subprocess.run([MGSYNC, *further, "--dry-run"], check=True, capture_output=True, timeout=280)
    # One file that cannot be written takes nothing from the others.
    full = subprocess.run([MGSYNC, "accept", "--device", "host", "--within", "8s", "--against", fast, "--line", "/dev/full", "--json", work / "full.json",
                           "--junit", work / "full.xml", "--prometheus", work / "full.txt"], capture_output=True, text=True, timeout=280, check=False)
    assert full.returncode == 1 and "/dev/full" in full.stderr and "his node is normal" in full.stdout, full
    assert all((work / f"full.{ending}").stat().st_size > 0 for ending in ("json", "xml", "txt")), full
    assert "--prometheus" in full.stderr and "reads files that end in .prom only" in full.stderr, full
    table = work / "limits.csv"
    table.write_text("*,*,*,100000000%\n")
    judged(lines, "--against", slow, "--thresholds", table, code=0)
    assert len(lines.read_text().splitlines()) == 3, "a line a run"
    # Its own results are a baseline for the next, where they are of a quiet machine.
    assert "held against 1 file" in accept("--device", "host", "--against", made(work / "here.json", 1), "--dry-run", code=0)
    assert "is no threshold" in accept("--device", "host", "--against", fast, "--thresholds", base, "--dry-run", code=2)
    assert "different machines" in accept("--device", "host", "--against", SOURCES / "docs/results/h200x2/sweep.json.xz", "--dry-run", code=2)
    assert "--reference" in accept("--against", fast, "--reference", code=2)


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    plans()
    faults()
    lost()
    this_machine()
