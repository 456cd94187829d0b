#!/bin/bash
# agrees_with_loop_test.sh MGSYNC LOOP: MPI_Barrier as mgsync measures it and as a plain loop does agree: the median of the
# ratios of alternated pairs of processes is within 10 % of one. Nine pairs are enough where the interval of that median says
# so; more are taken where it does not. Pairs beside which other programs had a part of the ranks' cores are left out; only where
# they left too few pairs do the figures say nothing, and the test is skipped.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1 loop=$2
[ "$(nproc)" -ge 2 ] || skip "two ranks need a core each"
command -v python3 >/dev/null || skip "the pairs are judged with python3"
[ -r /proc/stat ] || skip "nothing tells what other programs take"
unset OMPI_MCA_mpi_yield_when_idle OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
# Where the ranks run, as lists such as 0,64.
cpus=$("$MPIRUN" --bind-to core -np 2 sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status 2>/dev/null) ||
  skip "ranks cannot be bound to cores here"

python3 - "$work" "$(paste -sd, <<<"$cpus")" "$MPIRUN" "$mgsync" "$loop" <<'PYTHON'
import csv, math, os, resource, statistics, subprocess, sys, time

folder, cpu_list, mpirun, mgsync, loop = sys.argv[1:]
fewest, most, seconds = 9, 75, 80
margin = 1.10
most_of_others = 0.10  # of the cores' time; the medians of both programs bear that

cpus = set()
for part in cpu_list.split(","):
    first, _, last = part.partition("-")
    cpus.update(f"cpu{n}" for n in range(int(first), int(last or first) + 1))


def busy_s():  # of these CPUs, the time that a hypervisor took included
    with open("/proc/stat") as lines:
        rows = [line.split() for line in lines]
    used = sum(int(row[i]) for row in rows if row[0] in cpus for i in (1, 2, 3, 6, 7, 8) if i < len(row))
    return used / os.sysconf("SC_CLK_TCK")


def ours_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(*command):
    done = subprocess.run([mpirun, "--bind-to", "core", "-np", "2", *command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAIL: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def plain_us():
    return float(run(loop))


def our_us():
    run(mgsync, "--device", "host", "--backend", "mpi", "--members", "2", "--max-time", "500ms", "--check-rounds", "400",
        "--csv", folder + "/csv")
    with open(folder + "/csv", newline="") as rows:
        return float(next(csv.DictReader(rows))["latency_us"])


def judge(ratios):
    """Whether the two agree, and the 95 % interval of the median; None: the interval does not say."""
    n, below, rank = len(ratios), 0.0, 0
    while below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    if rank == 0:
        return None, (0, math.inf)
    low, high = sorted(ratios)[rank - 1], sorted(ratios)[n - rank]
    if 1 / margin < low and high < margin:
        return True, (low, high)
    return (False if high < 1 / margin or low > margin else None), (low, high)


ratios, pairs, begin = [], 0, time.monotonic()
agree = None
while agree is None and len(ratios) < most and time.monotonic() - begin < seconds:
    if pairs >= 6 and not ratios:
        break
    pairs += 1
    before, busy, ours = time.monotonic(), busy_s(), ours_s()
    if pairs % 2:
        plain, measured = plain_us(), our_us()
    else:
        measured, plain = our_us(), plain_us()
    wall = time.monotonic() - before
    others = max(0, (busy_s() - busy) - (ours_s() - ours)) / (wall * len(cpus))
    left_out = others > most_of_others
    if not left_out:
        ratios.append(measured / plain)
    print(f"plain loop {plain:.4f} us, mgsync {measured:.4f} us; others had {others:.0%} of the cores"
          + (", left out" if left_out else ""), flush=True)
    if len(ratios) >= fewest:
        agree, _ = judge(ratios)

if len(ratios) < fewest:
    print(f"skipped: undecided: beside {pairs - len(ratios)} of {pairs} pairs other programs had a part of the cores")
    sys.exit(77)
median = statistics.median(ratios)
_, (low, high) = judge(ratios)
if agree is None:
    agree = 1 / margin < median < margin
said = f"the median of the ratios is {median:.3f}, 95 % interval {low:.3f} to {high:.3f}, over {len(ratios)} pairs"
if not agree:
    sys.exit("FAIL: " + said)
# A program that measures a quarter more than the loop would not have passed.
if judge([ratio * 1.25 for ratio in ratios])[0] is True or 1 / margin < median * 1.25 < margin:
    sys.exit("FAIL: a quarter more passes too")
print("ok: " + said)
PYTHON
