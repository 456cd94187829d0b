#!/usr/bin/env python3
"""Is the host-clock method right? On x86 a dependent multiplication of 64 bits takes three cycles and an addition one, so
chains of them on one pinned core must have latencies in the ratio 3.00 +- 0.05.

Usage: verify_test.py MGSYNC. The study is run until the interval of the ratio is narrow: a busy machine makes this slower.
What else runs on the core, if only beside a virtual machine, slows multiplications more than additions, by a few percent, and shows in
batches that lie apart: by such a run the method may be right, or wrong by more than that. Leaves with 77 where the answer is unknown: on other
processors, and where the noise never lets the interval get narrow.
"""
import json
import math
import platform
import statistics
import subprocess
import sys

KNOWN, TOLERANCE, NARROW, MOST_RUNS = 3.00, 0.05, 0.03, 25
APART = 0.05  # of their median: the batches of a core that nothing else uses are nearer to each other
WIDE = 0.3  # how far the ratio is from 3 beside something else at most


def interval(values):
    """The 95 % confidence interval of the median, from the ranks; None for too few values."""
    n = len(values)
    below, rank = 0.0, 0
    while rank < n // 2 and below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    ordered = sorted(values)
    return (ordered[rank - 1], ordered[n - rank]) if rank > 0 else None


def says(ratios, tolerance=TOLERANCE):
    """'right' or 'wrong', or 'unknown' where these ratios do not tell."""
    ends = interval(ratios)
    if ends is None or ends[1] - ends[0] > 2 * NARROW:
        return "unknown"
    return "right" if abs(statistics.median(ratios) - KNOWN) <= tolerance else "wrong"


def is_alone(raw):
    """Whether nothing else seems to have used the core, by what the batches of each chain took."""
    return all(max(one) - min(one) <= APART * statistics.median(one) for one in raw.values())


def answer_of(ratios, alone):
    said = says(ratios)
    return said if alone or said != "wrong" else "wrong" if says(ratios, WIDE) == "wrong" else "unknown"


def near_to(ratio):
    return [ratio * (1 + 0.001 * (i % 7 - 3)) for i in range(40)]


def self_test():
    assert says(near_to(3)) == "right"
    assert says(near_to(2.9)) == "wrong" and says(near_to(3.1)) == "wrong"
    assert says(near_to(3)[:5]) == "unknown" and says([3, 2, 4, 5, 1] * 8) == "unknown"
    for ratio, alone, expected in ((3, True, "right"), (3, False, "right"), (3.1, True, "wrong"), (3.1, False, "unknown"), (2, False, "wrong")):
        assert answer_of(near_to(ratio), alone) == expected, (ratio, alone)
    assert is_alone({"add": [0.99, 1, 1.01], "multiply": [3]}) and not is_alone({"add": [0.96, 1, 1.02], "multiply": [3]})


def main():
    self_test()
    if platform.machine() not in ("x86_64", "AMD64"):
        print(f"skipped: what the operations take on {platform.machine()} is not known beforehand")
        return 77
    ratios, raw, answer = [], {"add": [], "multiply": []}, "unknown"
    for _ in range(MOST_RUNS):
        run = subprocess.run([sys.argv[1], "study", "verify", "--device", "host", "--json", "-"], capture_output=True,
                             text=True, timeout=120, check=True)
        results = json.loads(run.stdout[:run.stdout.rindex("}") + 1])["results"]
        now = {r["subject"]: r["metrics"]["latency"]["raw"] for r in results if r["status"] == "measured"}
        for chain, of_all in raw.items():
            of_all += now[chain]
        # One for each batch: the batches of both chains are interleaved, so that a changed clock frequency hits both.
        ratios += [slow / fast for slow, fast in zip(now["multiply"], now["add"]) if fast > 0]
        answer = answer_of(ratios, is_alone(raw))
        if answer == "right":
            break
    ends = interval(ratios) or (float("nan"), float("nan"))
    print(f"{answer}: a multiplication takes {statistics.median(ratios):.3f} times as long as an addition ({ends[0]:.3f} to {ends[1]:.3f}, "
          f"{len(ratios)} batches{'' if is_alone(raw) else ', beside something else on the core'})")
    return {"right": 0, "wrong": 1, "unknown": 77}[answer]


if __name__ == "__main__":
    sys.exit(main())
