#!/bin/bash
# smaller_team_test.sh MGSYNC: an OpenMP team that is smaller than what was asked for is waived with its reason, checked
# or not, and never measured in the name of a larger one; what only looks like a limit is none.
set -uo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAIL: $*" >&2
  sed 's/^/  | /' "$work/out" "$work/err" >&2
  exit 1
}
run() { # VARIABLE OPTIONS...
  local variable=$1
  shift
  env "$variable" timeout -k 2 140 "$program" --device host --backend openmp --members 4 --oversubscribe --timeout 10s \
    --max-time 100ms "$@" >"$work/out" 2>"$work/err"
  code=$?
}

for check in "--check-rounds 200" --no-check; do
  # shellcheck disable=SC2086  # two words
  run OMP_THREAD_LIMIT=2 $check
  [ "$code" -eq 4 ] || fail "exit code $code, expected 4: nothing could be measured"
  grep -q '^waived  openmp:runtime .* a team of 2 threads where 4 were asked for: OMP_THREAD_LIMIT is 2' "$work/out" ||
    fail "no reason for the smaller team"
done
run OMP_MAX_ACTIVE_LEVELS=0 --check-rounds 200
{ [ "$code" -eq 4 ] && grep -q 'OMP_MAX_ACTIVE_LEVELS is 0' "$work/out"; } || fail "a team of one thread was not waived"
run OMP_DYNAMIC=true --check-rounds 200
{ [ "$code" -eq 0 ] && grep -Eq '^openmp:runtime ' "$work/out" && grep -Eq ', pass$' "$work/out"; } || fail "OMP_DYNAMIC is overruled, and the team is whole"
