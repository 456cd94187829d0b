#!/bin/bash
# processes_test.sh MGSYNC: --processes runs the sweep in fresh processes, and each counts once; merge --over-processes gives
# the same of files that a launcher's starts left; what was measured before a signal is kept.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
quick=(--device host --oversubscribe --backend multigrid:central --members 2 --max-time 50ms --check-rounds 100)

timeout "$long_s" "$mgsync" "${quick[@]}" --processes 2 --seed 5 --json "$work/json" >"$work/out" 2>"$work/err"
expect_code $? 0 "two processes"
expect_text 'process 2 of 2' "$work/err"
expect_text 'seed 5' "$work/err"
expect_text 'seed 6' "$work/err"
[ "$(grep -c '^multigrid:' "$work/out")" -eq 1 ] || fail "the point does not stand once"
expect_text '2 processes only' "$work/out"
valid_json "$work/json" results 0 metrics latency raw 1
valid_json "$work/json" settings processes
expect_text '"processes": "2"' "$work/json"
expect_text '"command": "mgsync --device host .*--processes 2' "$work/json"
passed "two processes, each counted once"

# What is written once, at the end of all, no process writes too.
timeout "$long_s" "$mgsync" "${quick[@]}" --processes 2 --csv /dev/stderr 2>&1 >"$work/out" | cat >"$work/err" # a file would be replaced
expect_code "${PIPESTATUS[0]}" 0 "two processes and a document that is a stream"
[ "$(grep -c '^host,mgsync,study,' "$work/err")" -eq 1 ] || fail "the document was not written once"
passed "two processes, one document"

for i in 1 2 3; do
  timeout "$long_s" "$mgsync" "${quick[@]}" --json "$work/run-$i" >"$work/out" 2>"$work/err"
  expect_code $? 0 "run $i"
done
timeout "$long_s" "$mgsync" merge "$work"/run-[123] --over-processes --json "$work/merged" >"$work/out" 2>"$work/err"
expect_code $? 0 "merge --over-processes"
expect_text '3 processes only' "$work/out"
valid_json "$work/merged" results 0 metrics latency raw 2
passed "merge --over-processes"

"$mgsync" ledger "$work/merged" >"$work/out" 2>"$work/err"
expect_code $? 4 "a ledger of what was merged"
expect_text 'merged from other files' "$work/err"
"$mgsync" ledger "$work"/run-[123] >"$work/out" 2>"$work/err"
expect_text '^ +multigrid:central .* 3[0-9][0-9] ' "$work/out"
[ ! -s "$work/err" ] || fail "a ledger of what was measured says: $(cat "$work/err")"
passed "a ledger counts what was merged once"

for wrong in 0 -1 many; do
  "$mgsync" "${quick[@]}" --processes "$wrong" >"$work/out" 2>"$work/err"
  expect_code $? 2 "--processes $wrong"
  expect_text '^mgsync: .*--processes' "$work/err"
done
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$mgsync" "${quick[@]}" --processes 2 >"$work/out" 2>"$work/err"
expect_code $? 2 "--processes under mpirun"
expect_text 'merge FILE\.\.\. --over-processes' "$work/err"
passed "wrong use"

# Killed, the command leaves neither its process nor their folder behind.
mkdir "$work/tmp"
TMPDIR=$work/tmp "$mgsync" --device host --oversubscribe --backend multigrid:central --members 2 --max-time 60s --precision 0.0001 \
  --check-rounds 100 --processes 2 >"$work/out" 2>"$work/err" &
command=$!
wait_until "$long_s" pgrep -P "$command" -f -- --json >/dev/null || fail "no process was started"
child=$(pgrep -P "$command" -f -- --json | head -n 1)
[ -n "$(ls "$work/tmp")" ] || fail "there is no folder to be left"
kill -s KILL "$command"
wait "$command" 2>/dev/null
wait_until 30 gone "$child" || fail "process $child is left"
folder_is_gone() { [ -z "$(ls "$work/tmp")" ]; }
wait_until 30 folder_is_gone || fail "$(ls "$work/tmp") is left"
passed "killed, it leaves nothing behind"

# A signal in the second process: the first one's figure is kept, and the exit code is the signal's.
rm -f "$work/json"
"$mgsync" --device host --oversubscribe --backend multigrid:central --members 2 --max-time 2s --check-rounds 100 --processes 5 \
  --json "$work/json" >"$work/out" 2>"$work/err" &
command=$!
wait_until "$long_s" grep -qs 'process 2 of 5' "$work/err" || fail "no second process"
kill -s INT "$command"
wait "$command"
expect_code $? 130 "SIGINT in the second of five processes"
valid_json "$work/json" results 0 metrics latency raw 0
expect_text '^multigrid:' "$work/out"
passed "a signal keeps what was measured"
