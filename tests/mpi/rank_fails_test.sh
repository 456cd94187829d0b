#!/bin/bash
# rank_fails_test.sh PLANTED: a call that fails on one rank only, in any phase, ends the whole command with 1 and names the
# rank; what was measured before is in the store, and shown from it.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
planted=$1

# The group of two is measured, then the call fails in that of three: by an exception, or by a library's exit().
fail_in() { # VARIANT WHY CODE
  local phase=$1 begin took file named="rank 2 \\(process [0-9]+ on [^ ]*\\)$2"
  rm -f "$work"/*
  begin=$(now_ms)
  timeout -k 5 "$long_s" "$MPIRUN" -np 3 "$planted" --device host --backend "multigrid:inbox,planted:$phase" \
    --members 2,3 --oversubscribe --max-time 200ms --check-rounds 200 --timeout 5s --store "$work/store" --json "$work/json" \
    >"$work/out" 2>"$work/err"
  expect_code $? "$3" "$phase"
  took=$(($(now_ms) - begin))
  expect_text "^mgsync: $named" "$work/err"
  expect_text "\"ended_because\": \"$named" "$work/json"
  if grep -E 'is gone|stuck' "$work/err" "$work/json" "$work/store"; then fail "$phase: not called by its own error alone"; fi
  [ "$(grep '"t":"result"' "$work/store" | grep -c '"status":"measured"')" -eq 2 ] || fail "$phase: the store does not hold the two results of two members"
  for file in store json; do
    if grep -Eq '"status": ?"failed"' "$work/$file"; then fail "$phase: a barrier is blamed"; fi
  done
  tail -n 1 "$work/store" | grep -Eq "\"t\":\"end\",\"why\":\"error\",\"reason\":\"$named" || fail "$phase: the store does not end with the rank and its error"
  has_samples || fail "$phase: the store holds no sample"
  if grep -q '"why":"complete"' "$work/store"; then fail "$phase: the store says that it is complete"; fi
  "$planted" show "$work/store" >"$work/out" 2>"$work/err"
  expect_code $? 0 "showing the store of $phase"
  expect_row multigrid:inbox pass "$work/out"
  expect_row "planted:$phase" pass "$work/out"
  passed "$phase on rank 2: exit $3 after $took ms, named the same everywhere, and the store has what was measured"
}

for phase in creation check timing; do fail_in "fails-in-$phase" ': .*planted: error 42' 1; done
# The launcher ends with the code of who exited.
fail_in exits-in-timing ' called exit\(42\) before its end' 42
