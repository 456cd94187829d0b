#!/bin/bash
# absent_ranks_test.sh MGSYNC: the study blocking on ranks: MPI_Barrier waits for a rank that is late and hangs for one that has
# ended; ours ends in a time-out that names it; and each time a fresh job works afterwards.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1

PATH="$(dirname "$MPIRUN"):$PATH" timeout -k 5 "$long_s" "$mgsync" study blocking --device host --level rank --question absent \
  --members 3 --how exit-late,late --who first --bound 1500 >"$work/out" 2>"$work/err"
expect_code $? 0 "the study blocking on ranks"
expect_text '^ +rank +mpi-barrier +3 +- +hung(, ended by the launcher)? +- +- +held ' "$work/out"
expect_text '^ +rank +ours +3 +- +hung, (names them|ended by the launcher) +- +- +held ' "$work/out"
expect_text 'after 4 of them a fresh process worked\.' "$work/out"
passed "ranks that are late are waited for, and those that ended are not"

# Open MPI removes the folder of a launch that ends while another begins in it: each has one of its own.
if "$MPIRUN" --version 2>/dev/null | grep -q "Open MPI"; then
  mkdir "$work/tmp"
  TMPDIR=$work/tmp PATH="$(dirname "$MPIRUN"):$PATH" timeout -k 5 "$long_s" "$mgsync" study blocking --device host --level rank \
    --question absent --barrier ours --members 2 --how exit-late --who first --bound 1500 >"$work/out" 2>"$work/err" &
  job=$!
  has_sessions() { compgen -G "$work/tmp/mgsync-*/[0-9]*/ompi.*" >/dev/null; }
  wait_until "$long_s" has_sessions || fail "the launches have no folders of their own"
  wait "$job"
  expect_code $? 0 "the study with a TMPDIR"
  [ -z "$(ls -A "$work/tmp")" ] || fail "left behind: $(ls -A "$work/tmp")"
  passed "each launch keeps what it has in a folder of its own"
fi

# Without a launcher there is a reason, and no failure.
PATH=/nowhere "$mgsync" study blocking --device host --level rank --question absent --dry-run >"$work/out" 2>"$work/err"
expect_code $? 0 "the plan without a launcher"
PATH=/nowhere "$mgsync" study blocking --device host --level rank --question absent --how late --who last --json "$work/json" \
  >"$work/out" 2>"$work/err"
expect_code $? 4 "ranks without a launcher"
expect_text 'no mpirun and no mpiexec in PATH' "$work/json"
passed "without a launcher ranks are waived"
