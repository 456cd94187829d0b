#!/bin/bash
# plan_test.sh MGSYNC: what list and --dry-run print is what the same command measures, under mpirun too; ranks that do not
# meet are refused, before anything is written.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
asked=(--device host --oversubscribe --backend all --members 2 --max-time 20ms --check-rounds 50)

names() { sort -u | tr '\n' ' '; } # of the variants, one a line
for ranks in 1 2; do
  rm -f "$work"/*
  timeout "$long_s" "$MPIRUN" -np "$ranks" "$mgsync" "${asked[@]}" --dry-run --verbose >"$work/plan" 2>"$work/err"
  expect_code $? 0 "--dry-run on $ranks"
  timeout "$long_s" "$MPIRUN" -np "$ranks" "$mgsync" list --device host --oversubscribe --members 2 >"$work/list" 2>>"$work/err"
  expect_code $? 0 "list on $ranks"
  timeout "$long_s" "$MPIRUN" -np "$ranks" "$mgsync" "${asked[@]}" >"$work/out" 2>"$work/err"
  expect_code $? 0 "measuring on $ranks"
  planned=$(awk '$2 == "measured" { print $1 }' "$work/plan" | names)
  # `all` leaves pieces of barriers out.
  listed=$(awk '$2 == "can" && $3 == "run" && $1 !~ /^hop:/ { print $1 }' "$work/list" | names)
  measured=$(awk '/^barrier /, /^$/ { if ($1 ~ /:/) print $1 }' "$work/out" | names)
  [ -n "$measured" ] || fail "nothing was measured on $ranks"
  [ "$planned" = "$measured" ] || fail "--dry-run on $ranks planned $planned, measured were $measured"
  [ "$listed" = "$measured" ] || fail "list on $ranks says that $listed can run, measured were $measured"
  case $ranks in
    1) grep -q '^  mpi:default .*waived: .*two or more ranks' "$work/plan" || fail "mpi is not waived on one rank" ;;
    2) expect_text '^  member 1 +rank 1 ' "$work/plan" ;;
  esac
  # By reason: the plan and the table say it once, whichever the number of ranks; each is there when asked for.
  timeout "$long_s" "$MPIRUN" -np "$ranks" "$mgsync" "${asked[@]}" --dry-run >"$work/plan" 2>"$work/err"
  expect_code $? 0 "--dry-run by reason on $ranks"
  for file in plan out; do
    [ "$(grep -c '^waived: [0-9]* of [0-9]* points, by reason (--verbose lists each)$' "$work/$file")" -eq 1 ] || fail "$file on $ranks: not once by reason"
    expect_text '^ +[0-9]+  for GPU members: .*grid \(5 variants\)' "$work/$file"
    [ "$(sed -n '/^waived/,/^$/p' "$work/$file" | wc -L)" -le 110 ] || fail "$file on $ranks is too wide"
  done
  grep '^ *[0-9]*  for GPU' "$work/plan" | cmp -s - <(grep '^ *[0-9]*  for GPU' "$work/out") || fail "plan and table on $ranks count differently"
  passed "$ranks rank(s): what is planned is measured"
done

# What needs no ranks is said once.
for alone in --version --help "study --help" "study levels --help"; do
  # shellcheck disable=SC2086  # several words
  "$mgsync" $alone >"$work/err"
  # shellcheck disable=SC2086
  timeout "$long_s" "$MPIRUN" -np 2 "$mgsync" $alone >"$work/out" || fail "$alone on 2 ranks: exit code $?"
  cmp -s "$work/out" "$work/err" || fail "$alone says something else on 2 ranks"
done
passed "help and version are printed once"

# Who was where, as it was: ranks whose hardware threads another program chose, the last first.
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
if [ "${#cpus[@]}" -ge 2 ]; then
  # shellcheck disable=SC2016  # for the shell of each rank
  timeout "$long_s" "$MPIRUN" --bind-to none -np 2 bash -c 'exec taskset -c "${@:1+${OMPI_COMM_WORLD_RANK:-$PMI_RANK}:1}" "${@:3}"' _ "${cpus[1]}" "${cpus[0]}" \
    "$mgsync" --device host --backend mpi --members 2 --max-time 50ms --check-rounds 50 --json "$work/json" >"$work/out" 2>"$work/err"
  expect_code $? 0 "ranks placed by another program"
  expect_text "\"placed\": \"0: rank 0 on [^ ]+, CPU ${cpus[1]}; 1: rank 1 on [^ ]+, CPU ${cpus[0]}\"" "$work/json"
  rm "$work/json"
  passed "members are where the document says"
fi

# The launcher of another MPI than this mgsync's: each process finds itself alone.
PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0 timeout "$long_s" "$mgsync" "${asked[@]}" --json "$work/json" >"$work/out" 2>"$work/err"
expect_code $? 2 "two processes of another MPI"
expect_text 'started 2 processes and MPI \(.*\) counts 1: they do not meet' "$work/err"
[ ! -e "$work/json" ] || fail "a document was written"
passed "the launcher of another MPI is refused"

# Ranks that would not measure the same are told so before anything is measured.
timeout "$long_s" "$MPIRUN" -np 1 "$mgsync" "${asked[@]}" --precision 0.5 --json "$work/json" : \
  -np 1 "$mgsync" "${asked[@]}" --precision 0.25 --json "$work/json" >"$work/out" 2>"$work/err"
expect_code $? 2 "ranks with different options"
expect_text '^mgsync: the ranks were not given the same options: --precision is 0.5 on rank 0 and 0.25 on rank 1; accepted' "$work/err"
[ "$(grep -c 'not given the same options' "$work/err")" -eq 1 ] || fail "not said once"
[ ! -e "$work/json" ] || fail "a document was written"
passed "ranks with different options are told so"

# One of them cannot go on: each ends at once, and one sentence names it and what is wrong.
one_wrong() { # RANK SENTENCE WORDS...: exit code 2
  local wrong=$1 sentence=$2 begin took rank job=()
  shift 2
  for rank in 0 1 2; do
    if [ "$rank" -eq "$wrong" ]; then job+=(-np 1 "$mgsync" "${asked[@]}" "$@" :); else job+=(-np 1 "$mgsync" "${asked[@]}" --json "$work/json" :); fi
  done
  begin=$(now_ms)
  timeout "$long_s" "$MPIRUN" "${job[@]:0:${#job[@]}-1}" >"$work/out" 2>"$work/err"
  expect_code $? 2 "$* on rank $wrong"
  took=$(($(now_ms) - begin))
  [ "$took" -lt "$soon_ms" ] || fail "$* on rank $wrong: it took $took ms to end"
  expect_text "^mgsync: rank $wrong \\(process [0-9]+ on [^ ]*\\): $sentence" "$work/err"
  [ "$(grep -c '^mgsync: ' "$work/err")" -eq 1 ] || fail "$* on rank $wrong: not one sentence"
  if grep -q MPI_ABORT "$work/err"; then fail "$* on rank $wrong: MPI speaks too"; fi
  [ ! -e "$work/json" ] || fail "a document was written"
  passed "$* on rank $wrong alone: told after $took ms"
}
one_wrong 1 "unknown option '--bogus'" --bogus
one_wrong 0 "unknown option '--bogus'" --bogus
one_wrong 2 '--timeout .*accepted' --timeout soon
one_wrong 2 '.*--gpus' --gpus 4
one_wrong 1 '--topology /nonexistent' --topology /nonexistent
