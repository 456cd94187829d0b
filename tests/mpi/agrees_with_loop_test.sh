#!/bin/bash
# agrees_with_loop_test.sh MGSYNC LOOP: MPI_Barrier as mgsync measures it and as a plain loop does agree within 10 %. Other
# work on the machine disturbs both, so the best of several pairs counts; where every pair had other work beside it, a
# disagreement shows nothing, and the test is skipped as undecided.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1 loop=$2
[ "$(nproc)" -ge 2 ] || skip "two ranks need a core each"
unset OMPI_MCA_mpi_yield_when_idle OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
"$MPIRUN" --bind-to core -np 2 true 2>/dev/null || skip "ranks cannot be bound to cores here"

# Whether something else than this script runs, in more than two of ten looks.
disturbed() {
  local running times=0
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    read -r _ _ _ running _ </proc/loadavg || return 1
    if [ "${running%%/*}" -gt 1 ]; then times=$((times + 1)); fi
    sleep 0.02
  done
  [ "$times" -gt 2 ]
}

quiet=0
for attempt in 1 2 3 4 5 6 7 8; do
  beside=no
  if disturbed; then beside=yes; fi
  plain=$(timeout -k 5 "$long_s" "$MPIRUN" --bind-to core -np 2 "$loop" 2>"$work/err") || fail "the plain loop"
  if disturbed; then beside=yes; fi
  timeout -k 5 "$long_s" "$MPIRUN" --bind-to core -np 2 "$mgsync" --device host --backend mpi --members 2 --max-time 1s \
    --csv "$work/csv" >"$work/out" 2>"$work/err" || fail "mgsync"
  if disturbed; then beside=yes; fi
  ours=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "latency_us") at = i } NR == 2 { print $at }' "$work/csv")
  echo "plain loop $plain us, mgsync $ours us, beside other work: $beside"
  if awk -v a="$plain" -v b="$ours" 'BEGIN { exit !(a > 0 && b / a < 1.1 && b / a > 0.9) }'; then
    passed "they agree within 10 %, in attempt $attempt"
    exit 0
  fi
  if [ "$beside" = no ]; then quiet=$((quiet + 1)); fi
done
[ "$quiet" -gt 0 ] || skip "undecided: they never agreed within 10 %, and other work ran beside every pair"
fail "they never agreed within 10 %, in $quiet pairs without other work"
