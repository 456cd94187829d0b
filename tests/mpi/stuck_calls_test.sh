#!/bin/bash
# stuck_calls_test.sh MGSYNC LYING_MPI PLANTED: a rank that never comes back from a call into MPI, or from the destruction
# of a barrier, ends the job within its --timeout, and a sentence names the call.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
library=$2
planted=$3

stuck() { # PROGRAM BACKEND LIE PATTERN
  local begin took code=139 watcher
  # Open MPI 4.1.4's mpirun was seen to crash (a null pointer of its own), and to stay although both ranks had left, when
  # all ranks end in the same moment: once more.
  for ((attempt = 1; code == 139 && attempt <= 3; ++attempt)); do
    begin=$(now_ms)
    rm -f "$work/left"
    (sleep $((soon_ms / 1000)) && pgrep -f "^$1 --device host .*--json $work/json" >"$work/left") >/dev/null 2>&1 &
    watcher=$!
    timeout -k 5 $((soon_ms / 1000 + 20)) "$MPIRUN" -np 2 env LD_PRELOAD="$library" MGSYNC_LIE="$3" "$1" --device host --backend "$2" \
      --members 2 --oversubscribe --max-time 100ms --check-rounds 20 --timeout 5s --json "$work/json" >"$work/out" 2>"$work/err"
    code=$?
    kill "$watcher" 2>/dev/null
    if [ -e "$work/left" ] && [ ! -s "$work/left" ]; then code=139; fi
  done
  expect_code "$code" 3 "$3"
  took=$(($(now_ms) - begin))
  [ "$took" -lt "$soon_ms" ] || fail "$3: it took $took ms to end"
  expect_text "stuck: $4.* made no progress for [5-9]" "$work/err"
  passed "$3: ended after $took ms"
}

# What the two ranks are in when they wait for each other: the window is freed after the communicator.
stuck "$mgsync" mpi 'in MPI_Init_thread' '.*starting MPI'
stuck "$mgsync" mpi 'in MPI_Comm_split' 'splitting the ranks \(MPI_Comm_split\)'
stuck "$mgsync" mpi 'in MPI_Comm_split_type' 'creating mpi:default .*MPI_Comm_split_type'
stuck "$mgsync" mpi 'in MPI_Comm_dup' 'creating mpi:default .*MPI_Comm_dup'
stuck "$mgsync" mpi 'in MPI_Comm_free' 'destroying mpi:default .*MPI_Comm_free'
stuck "$mgsync" multigrid 'in MPI_Win_free' 'destroying multigrid:auto .*MPI_Win_free'
stuck "$planted" planted:hangs-in-destruction 'nothing' 'destroying planted:hangs-in-destruction '
stuck "$mgsync" mpi 'in MPI_Finalize' 'ending MPI \(MPI_Finalize\)'
# What was measured before it is written.
grep -q '"status": "measured"' "$work/json" || fail "the document does not hold what was measured"
