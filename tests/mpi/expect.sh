# shellcheck shell=bash
# Shared by the scripts of this folder (sourced): a scratch folder, and checks that say what they saw.

# A busy machine makes a test slower, not red. Seconds for a command, or for something to show, that takes a few on an idle
# machine; and the milliseconds after which a command has not ended "soon", which takes one to six seconds there.
long_s=300
soon_ms=40000
export long_s soon_ms

work=$(mktemp -d)
cleanup() { rm -rf "$work"; }
trap cleanup EXIT

fail() {
  echo "FAIL: $*" >&2
  local f
  for f in "$work"/out "$work"/err; do
    if [ -f "$f" ]; then sed 's/^/  | /' "$f" >&2; fi
  done
  exit 1
}
skip() {
  echo "skipped: $*"
  exit 77
}
passed() { echo "ok: $*"; }

expect_text() { # PATTERN WHERE...: an extended regular expression in one of the files
  local pattern=$1
  shift
  grep -Eqs -- "$pattern" "$@" || fail "nothing says '$pattern'"
}
# expect_row SUBJECT STATUS FILE: the table of results has a row of that subject, and the status stands in it or, where
# all rows have it, in the table's heading.
expect_row() {
  expect_text "^$1 " "$3"
  grep -Eqs -- "^$1 .* $2( |\$)" "$3" || expect_text "(^|, )(all )?$2\$" "$3"
}
expect_code() { [ "$1" -eq "$2" ] || fail "$3: exit code $1, expected $2"; }

now_ms() { date +%s%3N; }

# valid_json FILE [KEY...]: the file is JSON, and has something at this path
valid_json() {
  local file=$1
  shift
  {
    echo "file(READ \"$file\" text)"
    echo "string(JSON found GET \"\${text}\" $*)"
  } >"$work/json.cmake"
  "${CMAKE:-cmake}" -P "$work/json.cmake" 2>"$work/json.err" || fail "$file is not valid JSON: $(cat "$work/json.err")"
}

# wait_until SECONDS COMMAND...: polls until the command succeeds
wait_until() {
  local end=$(($(now_ms) + $1 * 1000))
  shift
  until "$@"; do
    [ "$(now_ms)" -lt "$end" ] || return 1
    sleep 0.05
  done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# The ranks of a job under way, as "rank pid": children of Open MPI's mpirun; of MPICH's, children of the proxy that it starts.
ranks_of() { # MPIRUN_PID
  local pid rank
  for pid in $(pgrep -P "$1"); do
    rank=$(tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p' | head -n 1)
    if [ -n "$rank" ]; then echo "$rank $pid"; else ranks_of "$pid"; fi
  done
}
has_samples() { grep -qs '"t":"sample"' "$work/store"; }

# Loses a rank of the job under way: the job ends soon with an error, which `code` and `took` tell of, and leaves no
# process. WHAT names the case.
lose_rank() { # SIGNAL RANK MPIRUN_PID WHAT
  local victim begin pids rank pid
  pids=$(ranks_of "$3")
  victim=$(awk -v r="$2" '$1 == r { print $2 }' <<<"$pids")
  [ -n "$victim" ] || fail "rank $2 is not among '$pids'"
  begin=$(now_ms)
  kill -s "$1" "$victim"
  wait "$3"
  code=$?
  took=$(($(now_ms) - begin))
  [ "$code" -ne 0 ] || fail "exit code 0 although rank $2 was lost"
  [ "$took" -lt "$soon_ms" ] || fail "$4: SIG$1 to rank $2: it took $took ms to end"
  while read -r rank pid; do
    wait_until 30 gone "$pid" || fail "process $pid (rank $rank) of the job is left"
  done <<<"$pids"
}
