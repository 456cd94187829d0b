#!/bin/bash
# agrees_with_loop_test.sh MGSYNC LOOP: MPI_Barrier as mgsync measures it and as a plain loop does agree: the median of the
# ratios of nine alternated pairs of processes is within 10 % of one. Pairs in which other work on the machine took the
# cores away are left out; where hardly any pair is left, or none of the first six, the figures say nothing, and the test is skipped.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1 loop=$2
wanted=9 fewest=5 seconds=80
[ "$(nproc)" -ge 2 ] || skip "two ranks need a core each"
command -v python3 >/dev/null || skip "preemptions are counted with python3"
unset OMPI_MCA_mpi_yield_when_idle OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
"$MPIRUN" --bind-to core -np 2 true 2>/dev/null || skip "ranks cannot be bound to cores here"

# COMMAND... with its output in $work/out; prints how often a second the kernel took a core away from it.
preemptions() {
  python3 - "$work" "$@" <<'PYTHON'
import resource, subprocess, sys, time
folder, command = sys.argv[1], sys.argv[2:]
begin = time.monotonic()
with open(folder + "/out", "w") as out, open(folder + "/err", "w") as err:
    code = subprocess.run(command, stdout=out, stderr=err).returncode
took = time.monotonic() - begin
print(int(resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw / took))
sys.exit(code)
PYTHON
}
plain_run() {
  plain_lost=$(preemptions "$MPIRUN" --bind-to core -np 2 "$loop") || fail "the plain loop"
  plain=$(cat "$work/out")
}
our_run() {
  our_lost=$(preemptions "$MPIRUN" --bind-to core -np 2 "$mgsync" --device host --backend mpi --members 2 \
    --max-time 500ms --check-rounds 400 --csv "$work/csv") || fail "mgsync"
  ours=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "latency_us") at = i } NR == 2 { print $at }' "$work/csv")
}

most_a_second=100 # of two ranks; a rank that shares its core loses it hundreds of times
begin=$(now_ms)
: >"$work/ratios"
for ((pair = 1; $(wc -l <"$work/ratios") < wanted && $(now_ms) - begin < seconds * 1000; ++pair)); do
  if [ "$pair" -gt 6 ] && [ ! -s "$work/ratios" ]; then break; fi
  if ((pair % 2)); then plain_run && our_run; else our_run && plain_run; fi
  note=''
  if [ "$plain_lost" -le $most_a_second ] && [ "$our_lost" -le $most_a_second ]; then
    awk -v a="$plain" -v b="$ours" 'BEGIN { print b / a }' >>"$work/ratios"
  else
    note=", left out: preempted $plain_lost and $our_lost times a second"
  fi
  echo "plain loop $plain us, mgsync $ours us$note"
done
left=$(wc -l <"$work/ratios")
[ "$left" -ge $fewest ] || skip "undecided: in $((pair - 1 - left)) of $((pair - 1)) pairs other work took the cores away"
median=$(sort -g "$work/ratios" | awk '{ r[NR] = $1 } END { print (r[int((NR + 1) / 2)] + r[int(NR / 2) + 1]) / 2 }')
awk -v m="$median" 'BEGIN { exit !(m > 0.9 && m < 1.1) }' || fail "the median of the ratios is $median over $left pairs"
passed "the median of the ratios is $median over $left pairs"
