#!/bin/bash
# study_ranks_test.sh MGSYNC: a study whose members are ranks: every way's sums come out, a plan says as much, and what cannot
# be measured by ranks is refused before anything is written.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
asked=(study reduction --device host --type fp64 --memory cache --bytes '4096,65536' --reading 'auto,first' --max-time 50ms)

timeout "$long_s" "$MPIRUN" -np 2 "$mgsync" "${asked[@]}" --json "$work/json" >"$work/out" 2>"$work/err"
expect_code $? 0 "sums by two ranks"
for way in read serial mpi-barrier ours last-done mpi-reduce; do expect_row "$way" pass "$work/out"; done
expect_text '2 ranks +fp64 +cache +64 KiB' "$work/out"
[ "$(grep -c '"ranks": 2' "$work/json")" -ge 24 ] || fail "not every point is of two ranks"
grep -q '"violations": [1-9]' "$work/json" && fail "a sum is wrong"
passed "sums by two ranks"

timeout "$long_s" "$MPIRUN" -np 2 "$mgsync" "${asked[@]}" --members 3 --dry-run --verbose >"$work/plan" 2>"$work/err"
expect_code $? 0 "--dry-run with more members than ranks"
expect_text 'waived.*3 members are asked for, and each of the 2 ranks is one' "$work/plan"
expect_text '^0 of 24 points can run here' "$work/plan"
timeout "$long_s" "$MPIRUN" -np 2 "$mgsync" study model --json "$work/no" >"$work/out" 2>"$work/err"
expect_code $? 2 "a study without members in ranks"
expect_text 'only barriers, reduction can be measured by several ranks: start model without mpirun' "$work/err"
[ -e "$work/no" ] && fail "something was written"
passed "what ranks cannot measure is refused"
