#!/usr/bin/env python3
"""Is the host-clock method right? On x86 a dependent multiplication of 64 bits takes three cycles and an addition one, so
chains of them on one pinned core must have latencies in the ratio 3.00 +- 0.05.

Usage: verify_test.py MGSYNC. The study is run until the interval of the ratio is narrow: a busy machine makes this slower.
Leaves with 77 where the answer is unknown: on other processors, and where the noise never lets the interval get narrow.
"""
import json
import math
import platform
import statistics
import subprocess
import sys

KNOWN, TOLERANCE, NARROW, MOST_RUNS = 3.00, 0.05, 0.03, 25


def interval(values):
    """The 95 % confidence interval of the median, from the ranks; None for too few values."""
    n = len(values)
    below, rank = 0.0, 0
    while rank < n // 2 and below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    ordered = sorted(values)
    return (ordered[rank - 1], ordered[n - rank]) if rank > 0 else None


def says(ratios):
    """'right' or 'wrong', or 'unknown' where these ratios do not tell."""
    ends = interval(ratios)
    if ends is None or ends[1] - ends[0] > 2 * NARROW:
        return "unknown"
    return "right" if abs(statistics.median(ratios) - KNOWN) <= TOLERANCE else "wrong"


def ratios_of(document):
    """One for each batch: the batches of both chains are interleaved, so that a changed clock frequency hits both."""
    raw = {r["subject"]: r["metrics"]["latency"]["raw"] for r in document["results"] if r["status"] == "measured"}
    return [slow / fast for slow, fast in zip(raw["multiply"], raw["add"]) if fast > 0]


def self_test():
    near = [1 + 0.001 * (i % 7 - 3) for i in range(40)]
    assert says([3 * x for x in near]) == "right"
    assert says([2.9 * x for x in near]) == "wrong" and says([3.1 * x for x in near]) == "wrong"
    assert says([3 * x for x in near[:5]]) == "unknown" and says([3, 2, 4, 5, 1] * 8) == "unknown"


def main():
    self_test()
    if platform.machine() not in ("x86_64", "AMD64"):
        print(f"skipped: what the operations take on {platform.machine()} is not known beforehand")
        return 77
    ratios, answer = [], "unknown"
    for _ in range(MOST_RUNS):
        run = subprocess.run([sys.argv[1], "study", "verify", "--device", "host", "--json", "-"], capture_output=True,
                             text=True, timeout=120, check=True)
        ratios += ratios_of(json.loads(run.stdout[:run.stdout.rindex("}") + 1]))
        answer = says(ratios)
        if answer == "right":
            break
    ends = interval(ratios) or (float("nan"), float("nan"))
    print(f"{answer}: a multiplication takes {statistics.median(ratios):.3f} times as long as an addition "
          f"({ends[0]:.3f} to {ends[1]:.3f}, {len(ratios)} batches)")
    return {"right": 0, "wrong": 1, "unknown": 77}[answer]


if __name__ == "__main__":
    sys.exit(main())
