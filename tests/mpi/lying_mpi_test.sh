#!/bin/bash
# lying_mpi_test.sh MGSYNC LYING_MPI: an MPI library whose barrier lets a rank leave early is caught; one that never
# returns is ended by the watchdog, which says how far everybody has come.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
library=$2

run() { # LIE
  timeout -k 5 "$long_s" "$MPIRUN" -np 3 env LD_PRELOAD="$library" MGSYNC_LIE="$1" "$mgsync" --device host --backend mpi \
    --members 3 --oversubscribe --max-time 200ms --check-rounds 4000 --timeout 8s --json "$work/json" >"$work/out" 2>"$work/err"
}

timeout -k 5 "$long_s" "$MPIRUN" -np 3 env LD_PRELOAD="$library" "$mgsync" --device host --backend mpi --members 3 --oversubscribe \
  --max-time 200ms --check-rounds 2000 --json "$work/json" >"$work/out" 2>"$work/err"
expect_code $? 0 "the truth"
grep -qw pass "$work/out" || fail "an honest MPI_Barrier did not pass"
passed "an honest MPI_Barrier passes"

run early
expect_code $? 3 "a rank that leaves early"
expect_text 'not a barrier: .*mpi:default on 3 host members \{0,1,2\}.*member 1 .*epoch 0x' "$work/err"
! grep -qw pass "$work/out" || fail "the table says pass"
valid_json "$work/json" results 0 status
grep -q '"status": "failed"' "$work/json" || fail "the document does not say failed"
passed "a rank that leaves every 100th barrier early"

stuck() { # LIE PATTERN
  local begin code took
  begin=$(now_ms)
  run "$1"
  code=$?
  took=$(($(now_ms) - begin))
  expect_code "$code" 3 "$1"
  [ "$took" -lt "$soon_ms" ] || fail "$1: it took $took ms to end"
  expect_text "$2" "$work/err"
  ! grep -qw pass "$work/out" || fail "the table says pass"
  passed "$1: ended after $took ms"
}

# What happens inside the library does not show: everybody entered it.
stuck absent 'mpi.*all members arrived at round 500 and none was released'
stuck lost 'mpi.*did not arrive at round 501: member 1 '
