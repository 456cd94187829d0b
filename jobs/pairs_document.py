#!/usr/bin/env python3
"""What jobs/against-others.sh measured, as a document that `mgsync show` and `mgsync report` read.

Usage: pairs_document.py PAIRS OURS COMMAND: PAIRS has lines "what,count,pair,theirs_us,ours_us"; OURS is a document of mgsync's own from the
same machine. Written to stdout: study others has the time of each process, others-over that of ours over theirs, pair by pair. Medians, with
the narrowest interval of order statistics that has 95 %, where there are six pairs or more.
"""
import csv
import json
import math
import statistics
import sys

NAMES = {"mpi": ("osu_barrier", "", "mpi", "default"), "openmp": ("syncbench", "equal-terms", "openmp", "runtime"),
         "parallel": ("syncbench", "parallel", "openmp-region", "")}


def interval(values):
    """(low, high, confidence), all None of too few."""
    values, last = sorted(values), (None, None, None)
    for cut in range(1, len(values) // 2 + 1):
        confidence = 1 - 2 * sum(math.comb(len(values), i) for i in range(cut)) / 2 ** len(values)
        if confidence < 0.95:
            break
        last = values[cut - 1], values[-cut], confidence
    return last


def row(like, what, study, subject, variant, count, metric, unit, values):
    low, high, confidence = interval(values)
    return {**like, "study": study, "subject": subject, "variant": variant, "members": count, "group": list(range(count)),
            "axes": {"what": {"value": what, "unit": ""}},
            "metrics": {metric: {"unit": unit, "better": "less", "median": statistics.median(values), "ci95_low": low, "ci95_high": high,
                                 "confidence": confidence, "min": min(values), "max": max(values), "spread": None, "samples": len(values),
                                 "raw": values}},
            "samples": {"batch": list(range(len(values))), metric: values}}


def main():
    pairs_file, ours_file, command = sys.argv[1:]
    with open(ours_file, encoding="utf-8") as file:
        document = json.load(file)
    like = {**document["results"][0], "device": "host", "ranks": 1, "node": "", "placement": "near", "status": "measured", "reason": "",
            "verdict": {"kind": "unchecked", "scope": "all", "passed": False, "rounds": 0, "observations": 0, "violations": 0,
                        "control_flagged": False, "bound": None},
            "method": "a process each, alternated", "stopped": "", "environment": {}, "notes": [], "doubts": [], "facts": None}
    pairs = {}
    with open(pairs_file, newline="", encoding="utf-8") as file:
        for what, count, _, theirs, ours in csv.reader(file):
            if what in NAMES and theirs and ours:
                pairs.setdefault((what, int(count)), []).append((float(theirs), float(ours)))
    rows = []
    for (what, count), values in pairs.items():
        their_name, their_variant, our_name, our_variant = NAMES[what]
        rows.append(row(like, what, "others", their_name, their_variant, count, "latency", "us", [theirs for theirs, _ in values]))
        rows.append(row(like, what, "others", our_name, our_variant, count, "latency", "us", [ours for _, ours in values]))
        rows.append(row(like, what, "others-over", our_name, our_variant, count, "ours / theirs", "", [ours / theirs for theirs, ours in values]))
    json.dump({**document, "command": command, "results": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
