#!/bin/bash
# stopped_test.sh MGSYNC [TIMES]: a command that is stopped for longer than its --timeout and continued (Ctrl-Z and fg, scontrol
# suspend) measures to its end and blames no barrier; one whose cores are taken away while it measures ends soon all the same.
# TIMES: how often it is stopped; 2 without a number.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
times=${2:-2}

start() { # what else is on the command line
  rm -f "$work"/*
  "$mgsync" --device host --oversubscribe --members 2 --precision 0.0001 --check-rounds 500 --timeout 2s --store "$work/store" \
    --json "$work/json" "$@" >"$work/out" 2>"$work/err" &
  command=$!
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
}

for ((i = 1; i <= times; ++i)); do
  start --backend multigrid,openmp --max-time 3s
  sleep "0.$((RANDOM % 10))"
  kill -s STOP "$command"
  sleep 4.5
  kill -s CONT "$command"
  wait "$command"
  expect_code $? 0 "stopped for 4.5 s with --timeout 2s"
  [ "$(grep -c '"status": "measured"' "$work/json")" -eq 2 ] || fail "not both points are measured"
  # Whether a run was under way is chance: between two of them the points are on disk.
  expect_text '(measured again what a process that was stopped, [4-9][0-9.]* s in all|a process was stopped, or got no CPU, for [4-9][0-9.]* s, and none)' "$work/json"
  passed "stopped for 4.5 s and continued, $i of $times"
done

# All ranks of a job at once, as a batch system suspends it.
if [ -n "${MPIRUN:-}" ] && grep -q 'Open MPI\|OpenRTE' <<<"$("$MPIRUN" --version 2>/dev/null)"; then
  rm -f "$work"/*
  "$MPIRUN" -np 2 "$mgsync" --device host --oversubscribe --backend multigrid,mpi --members 2 --precision 0.0001 --check-rounds 500 \
    --timeout 3s --max-time 3s --store "$work/store" --json "$work/json" >"$work/out" 2>"$work/err" &
  command=$!
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
  ranks=$(ranks_of "$command" | awk '{ print $2 }')
  # shellcheck disable=SC2086  # a number each
  kill -s STOP $ranks
  sleep 6
  # shellcheck disable=SC2086
  kill -s CONT $ranks
  wait "$command"
  expect_code $? 0 "two ranks that were suspended and resumed"
  [ "$(grep -c '"status": "measured"' "$work/json")" -eq 2 ] || fail "not both points are measured"
  passed "two ranks that were suspended for longer than their --timeout and resumed"
fi

[ "$(nproc)" -ge 2 ] || skip "one core cannot be taken away"
first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
start --backend multigrid:central --max-time 1s
begin=$(now_ms)
taskset -acp "$first" "$command" >/dev/null 2>&1 # a thread may end meanwhile, or the command
wait "$command"
code=$?
took=$(($(now_ms) - begin))
[ "$took" -lt "$((soon_ms + 20000))" ] || fail "without its second core it took $took ms to end"
case $code in 0 | 1) ;; *) fail "without its second core: exit code $code" ;; esac
valid_json "$work/json" results 0 status
passed "one core for two members: exit $code after $took ms"
