# shellcheck shell=bash
# Shared by the scripts of this folder (sourced): a scratch folder, and checks that say what they saw.

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
