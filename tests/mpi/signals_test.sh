#!/bin/bash
# signals_test.sh MGSYNC: a running sweep that is asked to end leaves at once with 128 + the signal's number, with valid
# results, and a store from which --resume completes the sweep. Wrong words are answered with 2.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
sweep=(--device host --backend 'multigrid:inbox,multigrid:hub,peer-reduction:push' --members '1,2' --oversubscribe
  --precision 0.0001 --check-rounds 500 --max-time 700ms)

has_samples() { grep -qs '"t":"sample"' "$work/store"; }

interrupt() { # SIGNAL [AGAIN]: the signal, and the second one at once
  rm -f "$work"/*
  "$mgsync" "${sweep[@]}" --store "$work/store" --json "$work/json" >"$work/out" 2>"$work/err" &
  local pid=$! begin code
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
  begin=$(now_ms)
  kill -s "$1" "$pid"
  if [ $# -gt 1 ]; then sleep 0.01; kill -s "$2" "$pid" 2>/dev/null; fi
  wait "$pid"
  code=$?
  local took=$(($(now_ms) - begin))
  expect_code "$code" $((128 + $(kill -l "$1"))) "after SIG$1"
  [ "$took" -lt "$soon_ms" ] || fail "after SIG$1 it took $took ms to leave"
  valid_json "$work/json" schema
  grep -q '"schema": "mgsync-results/2"' "$work/json" || fail "no schema in the document"
  passed "SIG$1: exit $code after $took ms"
}

interrupt INT
interrupt TERM
interrupt USR2
# A batch system's warning comes from the scheduler, the shell and the launcher: the second one cuts nothing short.
interrupt TERM USR1
interrupt USR1 USR1

# Also while what is to be measured is made, as the processes of a study of hangs are.
for delay in 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45; do
  rm -f "$work"/case*
  "$mgsync" study blocking --question holds --json "$work/case.json" >"$work/case" 2>&1 &
  pid=$!
  sleep "$delay"
  kill -s INT "$pid" 2>/dev/null
  wait "$pid"
  code=$?
  [ "$code" -eq 130 ] || ! grep -q '"reason": "interrupted' "$work/case.json" || fail "exit code $code of what was interrupted"
  ! grep -q '"reason": "interrupted"' "$work/case.json" || fail "what was interrupted is said to be impossible here"
done
passed "SIGINT while cases are made"

# Goes on from the last one's store.
samples=$(grep -c '"t":"sample"' "$work/store")
timeout "$long_s" "$mgsync" "${sweep[@]}" --store "$work/store" --resume --json "$work/json" \
  >"$work/out" 2>"$work/err"
expect_code $? 0 "--resume"
valid_json "$work/json" results 5 metrics latency median
[ "$(grep -c '"status": "measured"' "$work/json")" -eq 6 ] || fail "not all six points are measured"
[ "$(grep -c '"t":"sample"' "$work/store")" -ge "$samples" ] || fail "the store lost samples"
tail -n 1 "$work/store" | grep -q '"complete"' || fail "the store does not end with 'complete'"
passed "--resume completes the sweep"

# A crash, with a line torn in the middle.
"$mgsync" "${sweep[@]}" --store "$work/torn" >"$work/out" 2>"$work/err" &
pid=$!
wait_until "$long_s" grep -qs '"t":"sample"' "$work/torn" || fail "no sample within $long_s s"
{ kill -9 "$pid"; wait "$pid"; } 2>/dev/null
printf '{"t":"sample","key":"0123' >>"$work/torn"
timeout "$long_s" "$mgsync" "${sweep[@]}" --store "$work/torn" --resume >"$work/out" 2>"$work/err"
expect_code $? 0 "--resume after kill -9"
passed "--resume after kill -9 and a torn line"

# A plan that takes long ends at once too; it has nothing to write.
"$mgsync" --device host --members 1-1500 --oversubscribe --dry-run --verbose >"$work/out" 2>"$work/err" &
pid=$!
sleep 0.5
kill -TERM "$pid" 2>/dev/null || fail "the plan was made before it could be interrupted"
begin=$(now_ms)
{ wait "$pid"; code=$?; } 2>/dev/null
expect_code "$code" 143 "--dry-run after SIGTERM"
[ $(($(now_ms) - begin)) -lt "$soon_ms" ] || fail "--dry-run ended late"
passed "--dry-run follows SIGTERM"

for wrong in '--bogus' '--members 0' '--backend nonsense' '--timeout soon' 'measre'; do
  # shellcheck disable=SC2086  # two words on purpose
  "$mgsync" $wrong >"$work/out" 2>"$work/err"
  expect_code $? 2 "mgsync $wrong"
  expect_text 'accepted' "$work/err"
done
passed "wrong words end with 2"
