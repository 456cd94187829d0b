#!/bin/bash
# rank_fails_test.sh PLANTED: a call that fails on one rank only, in any phase, ends the whole command with 1 and names the
# rank; what was measured before is in the store, and shown from it.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
planted=$1

# The group of two is measured, then the call fails in that of three.
for phase in creation check timing; do
  rm -f "$work"/*
  begin=$(now_ms)
  timeout -k 5 "$long_s" "$MPIRUN" -np 3 "$planted" --device host --backend "multigrid:inbox,planted:fails-in-$phase" \
    --members 2,3 --oversubscribe --max-time 200ms --check-rounds 200 --timeout 5s --store "$work/store" \
    >"$work/out" 2>"$work/err"
  expect_code $? 1 "a call that fails in $phase"
  took=$(($(now_ms) - begin))
  expect_text 'rank 2 on .*planted: error 42' "$work/err"
  [ "$(grep '"t":"result"' "$work/store" | grep -c '"status":"measured"')" -eq 2 ] || fail "$phase: the store does not hold the two results of two members"
  if grep -q '"status":"failed"' "$work/store"; then fail "$phase: a barrier is blamed"; fi
  tail -n 1 "$work/store" | grep -q '"t":"end","why":"error","reason":"rank 2 ' || fail "$phase: the store does not end with the rank"
  has_samples || fail "$phase: the store holds no sample"
  if grep -q '"why":"complete"' "$work/store"; then fail "$phase: the store says that it is complete"; fi
  "$planted" show "$work/store" >"$work/out" 2>"$work/err"
  expect_code $? 0 "showing the store of a call that failed in $phase"
  expect_text '^multigrid +inbox +2 +2 .* pass' "$work/out"
  expect_text "^planted +fails-in-$phase +2 +2 .* pass" "$work/out"
  passed "a call that fails in $phase on rank 2: exit 1 after $took ms, and the store has what was measured"
done
