#!/bin/bash
# ranks_lost_test.sh MGSYNC: a rank that is stopped or killed while barriers are measured ends the command after its
# --timeout, with the rank's name, the same on stderr, in the document and in the store, and without blame for a barrier; and
# leaves no process behind.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1

start() { # BACKEND
  rm -f "$work"/*
  "$MPIRUN" -np 3 "$mgsync" --device host --backend "$1" --members 3 --oversubscribe --precision 0.0001 --max-time 60s \
    --check-rounds 500 --timeout 5s --store "$work/store" --json "$work/json" >"$work/out" 2>"$work/err" &
  job=$!
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
}

lose() { # SIGNAL RANK BACKEND
  local code took
  start "$3"
  lose_rank "$1" "$2" "$job" "$3"
  has_samples || fail "the store lost its samples"
  local named="rank $2 \\(process [0-9]+ on [^ ]*\\) (is gone|is stopped|was stopped, or got no CPU, for [0-9.]+ s)"
  for file in err json store; do expect_text "$named" "$work/$file"; done
  tail -n 1 "$work/store" | grep -Eq "\"why\":\"error\",\"reason\":\"$named" || fail "the store does not end with the reason"
  expect_text '"ended": "error"' "$work/json"
  grep -Eqs '"status": ?"failed"' "$work/json" "$work/store" && fail "a barrier is blamed"
  [ "$1" != STOP ] || expect_code "$code" 1 "$3: rank $2 stopped"
  passed "$3: SIG$1 to rank $2: exit $code after $took ms"
}

# Once a signal has ended a rank, MPICH's launcher kills all others in the same moment: what is left is the store.
lose_all_with() { # RANK BACKEND
  local code took
  start "$2"
  lose_rank KILL "$1" "$job" "$2"
  "$mgsync" show "$work/store" >"$work/out" 2>"$work/err"
  expect_code $? 0 "showing the store of ranks that were killed together"
  expect_text 'its command ended early .*; 1 point has samples but no result' "$work/out" "$work/err"
  passed "$2: SIGKILL to rank $1 and at once to all others: exit $code, and a store that can be shown"
}

lose STOP 1 multigrid
lose STOP 2 mpi
lose STOP 0 multigrid
if grep -q HYDRA <<<"$("$MPIRUN" -version 2>/dev/null)"; then
  lose_all_with 1 multigrid
  lose_all_with 2 mpi
else
  lose KILL 1 multigrid
  lose KILL 2 mpi
fi

"$MPIRUN" -np 2 "$mgsync" --bogus >"$work/out" 2>"$work/err"
expect_code $? 2 "a wrong option under mpirun"
[ "$(grep -c 'unknown option' "$work/err")" -eq 1 ] || fail "not said once"
passed "a wrong option under mpirun ends with 2"
