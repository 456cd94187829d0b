#!/bin/bash
# endings_test.sh MGSYNC [RUNS]: whatever ends a job of several ranks, at any time after its first sample, leaves a document and a store
# that say why: a rank that is killed, crashes or aborts (the one that writes too), and a launcher that is asked to end, once or
# twice. RUNS: of these in all, in turn; 12 without a number.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
runs=${2:-12}
ulimit -c 0
"$MPIRUN" --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE' || skip "the ranks are found as Open MPI's mpirun names them"

# What is done to whom, and what document and store say of it.
cases=('KILL 1' 'TERM job' 'SEGV 2' 'KILL 0' 'TWICE job' 'ABRT 1' 'HUP job' 'SEGV 0' 'KILL 2' 'TWICE job' 'ABRT 0' 'TERM job')
reason_of() { # SIGNAL WHOM
  case "$1 $2" in
    *' job') echo 'signal 15 \(Terminated\)' ;;
    KILL*) echo "rank $2 \\(process [0-9]+ on [^ ]*\\) is gone" ;;
    *) echo "rank $2 \\(process [0-9]+ on [^ ]*\\) crashed: signal (6|11)" ;;
  esac
}

one_run() { # SIGNAL WHOM
  local job pids victim reason rank pid word=error
  rm -f "$work"/*
  "$MPIRUN" -np 3 "$mgsync" --device host --backend multigrid,peer-reduction --members 2,3 --oversubscribe --precision 0.0001 \
    --max-time 60s --check-rounds 500 --timeout 30s --seed 1 --store "$work/store" --json "$work/json" >"$work/out" 2>"$work/err" &
  job=$!
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
  sleep "0.$((RANDOM % 10))"
  pids=$(ranks_of "$job")
  if [ "$2" = job ]; then
    word=interrupted
    kill -s "${1/TWICE/TERM}" "$job"
    if [ "$1" = TWICE ]; then sleep 0.003; kill -s TERM "$job" 2>/dev/null; fi
  else
    victim=$(awk -v r="$2" '$1 == r { print $2 }' <<<"$pids")
    kill -s "$1" "$victim"
  fi
  wait "$job"
  code=$?
  [ "$code" -ne 0 ] || fail "$1 to $2: exit code 0"
  while read -r rank pid; do wait_until 30 gone "$pid" || fail "process $pid (rank $rank) of the job is left"; done <<<"$pids"
  reason=$(reason_of "$1" "$2")
  tail -n 1 "$work/store" | grep -Eq "^\{\"t\":\"end\",\"why\":\"$word\",\"reason\":\"[^\"]*$reason" ||
    fail "$1 to $2: the store does not end with the reason, but: $(tail -n 1 "$work/store")"
  [ -s "$work/json" ] || fail "$1 to $2: no document"
  valid_json "$work/json" results 0 status
  grep -q "\"ended\": \"$word\"" "$work/json" || fail "$1 to $2: the document does not say that it ended as $word"
  grep -Eq "\"ended_because\": \"[^\"]*$reason" "$work/json" || fail "$1 to $2: the document does not say why"
  if grep -q '"status": "failed"' "$work/json" "$work/store"; then fail "$1 to $2: a barrier is blamed"; fi
  if [ "$word" = error ]; then expect_text "$reason" "$work/err"; fi
}

for ((i = 0; i < runs; ++i)); do
  read -r signal whom <<<"${cases[i % ${#cases[@]}]}"
  one_run "$signal" "$whom"
  passed "run $((i + 1)): $signal to $whom, exit code $code"
done
