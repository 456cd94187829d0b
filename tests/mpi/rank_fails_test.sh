#!/bin/bash
# rank_fails_test.sh PLANTED: a call that fails on one rank only, in any phase, ends the whole command with 1 and names the
# rank; what was measured before is in the store.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
planted=$1

for phase in creation check timing; do
  rm -f "$work"/*
  begin=$(now_ms)
  timeout -k 5 60 "$MPIRUN" -np 3 "$planted" --device host --backend "multigrid:inbox,planted:fails-in-$phase" --members 2,3 \
    --oversubscribe --max-time 200ms --check-rounds 200 --timeout 5s --store "$work/store" --json "$work/json" \
    >"$work/out" 2>"$work/err"
  expect_code $? 1 "a call that fails in $phase"
  took=$(($(now_ms) - begin))
  [ "$took" -lt 15000 ] || fail "$phase: it took $took ms to end"
  expect_text 'rank 1 on .*planted: error 42' "$work/err"
  passed "a call that fails in $phase on rank 1: exit 1 after $took ms"
done
