#!/usr/bin/env python3
"""pairs_document_test.py MGSYNC JOBS: pairs of processes become a document that mgsync shows: medians, and of nine pairs the interval from the
second to the eighth (96 %), of five none; pairs that lack a value are left out."""
import json
import pathlib
import subprocess
import sys
import tempfile

mgsync, jobs = sys.argv[1], pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    own = folder / "own.json"
    subprocess.run([mgsync, *"--device host --oversubscribe --members 2 --backend multigrid:hub --max-time 20ms --check-rounds 50 --json".split(),
                    own], check=True, capture_output=True)
    lines = [f"mpi,2,{i},{i}.0,{2 * i}.0" for i in range(1, 10)] + [f"openmp,4,{i},1.0,{1 + i / 10}" for i in range(5)]
    (folder / "pairs").write_text("\n".join([*lines, "mpi,2,10,,3.0", "launch,1,1,2.0,2.0"]) + "\n")
    written = subprocess.run([sys.executable, jobs / "pairs_document.py", folder / "pairs", own, "typed so"], check=True,
                             capture_output=True, text=True).stdout
    document = folder / "document.json"
    document.write_text(written)
    shown = subprocess.run([mgsync, "show", document, "--by", "members", "--value", "ci95"], check=True, capture_output=True, text=True).stdout
    for wanted in ("| osu_barrier | 5.000 (2.000..8.000) |", "| mpi:default | 10.000 (4.000..16.000) |", "| mpi:default | 2.000 (2.000..2.000) |",
                   "| syncbench:equal-terms | 1.000", "| openmp:runtime | 1.200"):
        if wanted not in shown:
            sys.exit(f"nothing shows '{wanted}':\n{shown}")
    metrics = {(row["study"], row["subject"]): row["metrics"] for row in json.loads(written)["results"]}
    assert metrics["others", "openmp"]["latency"]["ci95_low"] is None, "five pairs have no interval of 95 %"
    assert 0.95 <= metrics["others", "mpi"]["latency"]["confidence"] < 0.97
    assert len(metrics["others", "mpi"]["latency"]["raw"]) == 9, "a pair without one of its values is none"
    assert json.loads(written)["command"] == "typed so"
print("ok: pairs, their medians and intervals")
