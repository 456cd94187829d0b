#!/usr/bin/env python3
"""Makes the acceptances of a fleet that there is not, from the spreads that were measured: points as `mgsync accept` plans them
on a node of GPUs, latencies of docs/results, a shift of each process of 1 to 2 %, a spread from GPU to GPU, and planted
outliers. Usage: made_up_fleet.py NODES DAYS FILE [GPUS]: writes lines of --line, and prints the planted ones as JSON."""
import json
import math
import random
import sys

POINTS = [  # part, subject, shape, us: of 4 H200s in docs/results/h200x4/barriers.json.xz
    (1, "multigrid:auto", "4x256", 1.026), (1, "multigrid:library", "1x1024", 0.904), (2, "multigrid:relay", "1x1024", 2.423),
    (0, "multigrid:auto", "1x1024", 2.165), (0, "openmp:runtime", "1x32", 11.611), (0, "multigrid:central", "1x32", 3.813)]
PROCESS, PART, HOST = 0.012, 0.008, 0.06  # deviations of logarithms


def planted(nodes, draw):
    """What is wrong with which node: a kind for each of some nodes, named by the part that is to be blamed."""
    chosen = draw.sample(range(nodes), 8)
    return dict(zip(chosen, [("gpu", 3), ("gpu", 0), ("late", 2), ("late", 1), ("pair", (0, 3)), ("pair", (1, 2)), ("node", None), ("node", None)]))


def times(fault, members, gpus):
    if fault is None:
        return 1
    kind, which = fault
    if kind == "gpu":
        return 1.35 if which in members else 1
    if kind == "late":
        return 1.4 if which in members and len(members) > 1 else 1
    if kind == "pair":
        return 1.4 if tuple(members) == which else 1
    return 1.4 if len(members) == gpus else 1


def part_of(members, gpus):
    if len(members) == gpus and gpus > 2:
        return f"all {gpus} GPUs"
    return f"GPU {members[0]}" if len(members) == 1 else f"GPUs {members[0]} and {members[1]}"


def acceptance(node, day, fault, fleet_shift, gpus, draw):
    points, shift, slow = [], draw.gauss(0, PROCESS) + fleet_shift, False
    for together, subject, shape, us in POINTS:
        groups = [[g] for g in range(gpus)] if together == 1 else [list(range(gpus))] if together == 0 else \
            [[a, b] for a in range(gpus) for b in range(a + 1, gpus)]
        for members in groups:
            deviation = HOST if subject.startswith("openmp") else PART
            here = us * times(fault, members, gpus) * math.exp(shift + draw.gauss(0, deviation))
            limit = 3 if subject.startswith("openmp") else 1.25
            slow = slow or here > limit * us
            points.append({"part": part_of(members, gpus), "members": members, "together": len(members), "subject": subject, "shape": shape,
                           "state": "slow" if here > limit * us else "ok", "us": round(here, 4), "low": round(here * 0.99, 4),
                           "high": round(here * 1.01, 4), "base_us": us, "times": round(here / us, 4), "limit": limit})
    verdict = "slow" if slow else "normal"
    return {"schema": "mgsync-accept/1", "node": f"n{node}", "kind": f"{gpus} x NVIDIA H200", "started": f"2026-11-{day + 1:02}T03:{node % 60:02}:00Z",
            "seconds": 20, "mgsync": "0.1.0", "verdict": verdict, "exit_code": 5 if slow else 0, "sentence": f"This node is {verdict}.",
            "gpus": [f"GPU-{node}-{g}" for g in range(gpus)], "findings": [], "suspects": [], "notes": [], "points": points}


def main():
    nodes, days, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    gpus = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    draw = random.Random(47)
    faults = planted(nodes, draw)
    with open(file, "w") as out:
        for day in range(days):
            for node in range(nodes):
                # From the last day but one on, the fleet is 3 % slower, as by another driver.
                run = acceptance(node, day, faults.get(node), 0.03 if day >= days - 1 else 0, gpus, draw)
                out.write(json.dumps(run, separators=(",", ":")) + "\n")
    print(json.dumps({f"n{node}": fault for node, fault in faults.items()}))


if __name__ == "__main__":
    main()
