#!/bin/bash
# ranks_lost_test.sh MGSYNC: a rank that is stopped or killed while barriers are measured ends the command within its
# --timeout, with the rank's name, and leaves no process behind.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1

# The ranks of the job under way: children of mpirun whose program is mgsync, as "rank pid".
ranks_of() { # MPIRUN_PID
  local pid rank
  for pid in $(pgrep -P "$1"); do
    rank=$(tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
    if [ -n "$rank" ]; then echo "$rank $pid"; fi
  done
}
has_samples() { grep -qs '"t":"sample"' "$work/store"; }

lose() { # SIGNAL RANK BACKEND
  rm -f "$work"/*
  "$MPIRUN" -np 3 "$mgsync" --device host --backend "$3" --members 3 --oversubscribe --precision 0.0001 --max-time 60s \
    --check-rounds 500 --timeout 5s --store "$work/store" --json "$work/json" >"$work/out" 2>"$work/err" &
  local job=$! victim begin took code pids
  wait_until 40 has_samples || fail "no sample within 40 s"
  pids=$(ranks_of "$job")
  victim=$(awk -v r="$2" '$1 == r { print $2 }' <<<"$pids")
  [ -n "$victim" ] || fail "rank $2 is not among '$pids'"
  begin=$(now_ms)
  kill -s "$1" "$victim"
  wait "$job"
  code=$?
  took=$(($(now_ms) - begin))
  [ "$code" -ne 0 ] || fail "exit code 0 although rank $2 was lost"
  [ "$took" -lt 10000 ] || fail "$3: SIG$1 to rank $2: it took $took ms to end"
  expect_text "(rank $2|member $2|Rank $2)" "$work/err" "$work/out"
  local rank pid
  while read -r rank pid; do
    wait_until 3 gone "$pid" || fail "process $pid (rank $rank) of the job is left"
  done <<<"$pids"
  has_samples || fail "the store lost its samples"
  [ "$1" != STOP ] || expect_code "$code" 3 "$3: rank $2 stopped"
  passed "$3: SIG$1 to rank $2: exit $code after $took ms"
}

lose STOP 1 multigrid
lose STOP 2 mpi
lose STOP 0 multigrid
lose KILL 1 multigrid
lose KILL 2 mpi

"$MPIRUN" -np 2 "$mgsync" --bogus >"$work/out" 2>"$work/err"
expect_code $? 2 "a wrong option under mpirun"
[ "$(grep -c 'unknown option' "$work/err")" -eq 1 ] || fail "not said once"
passed "a wrong option under mpirun ends with 2"
