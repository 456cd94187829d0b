#!/bin/bash
# outputs_test.sh MGSYNC: a stdout or stderr that is full, closed or left by its reader, and a file that cannot be written, take
# no other result along; what was lost is told of and ends with 1; no command writes over what it reads.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
cd "$work" || exit 1
quick=(--device host --oversubscribe --backend multigrid:central --members 2 --max-time 20ms --check-rounds 100)
m() { timeout "$long_s" "$mgsync" "$@"; }

whole() { # WHAT: the JSON, the CSV and the store of this command are there and complete
  valid_json r.json results 0 metrics latency median
  grep -q '^.*multigrid' r.csv || fail "$1: no CSV"
  tail -n 1 r.jsonl | grep -q '"complete"' || fail "$1: the store does not end"
  rm -f r.json r.csv r.jsonl
  passed "$1"
}
files=(--json r.json --csv r.csv --store r.jsonl)

m "${quick[@]}" "${files[@]}" >out 2>/dev/full
expect_code $? 0 "a full stderr"
whole "a full stderr"
m "${quick[@]}" "${files[@]}" >&- 2>&-
expect_code $? 0 "stdout and stderr closed"
! grep -q '^backend' r.jsonl || fail "the table is in the store"
whole "stdout and stderr closed"
# A pipe that no one reads: as `| head` leaves it, only that here it is sure to have left.
mkfifo pipe
exec 3<>pipe
exec 4>pipe
exec 3<&-
m "${quick[@]}" "${files[@]}" >&4 2>&4
expect_code $? 141 "a reader that has left"
whole "a reader that has left"
m "${quick[@]}" "${files[@]}" >out 2>&4
expect_code $? 0 "a reader of stderr that has left"
whole "a reader of stderr that has left"
m "${quick[@]}" >&4 2>err
expect_code $? 141 "a reader that has left, without files"
m study launch --device host "${files[@]}" --figures drawn >&4 2>&4
for file in r.json r.csv drawn/*.svg; do [ -s "$file" ] || fail "$file of a study is lost with its reader"; done
rm -rf drawn r.json r.csv r.jsonl
m "${quick[@]}" --processes 2 --json r.json >&4 2>&4
valid_json r.json results 0 metrics latency median
passed "a reader that has left a study, and processes"

for wrong in '--bogus' 'show nothing.json'; do
  # shellcheck disable=SC2086  # two words on purpose
  m $wrong >out 2>/dev/full
  expect_code $? 2 "mgsync $wrong with a full stderr"
  # shellcheck disable=SC2086
  m $wrong >out 2>&-
  expect_code $? 2 "mgsync $wrong without stderr"
done
passed "wrong words keep their exit code"

m "${quick[@]}" --json a.json --store a.jsonl >out 2>err
expect_code $? 0 "a sweep"
lost() { # WORDS...: a stdout that is full is told of once, and ends with 1
  m "$@" >/dev/full 2>err
  expect_code $? 1 "a full stdout: $*"
  [ "$(grep -c '^mgsync: stdout could not be written, No space left on device' err)" -eq 1 ] || fail "$*: not said once"
  ! grep -q 'cannot write' err || fail "$*: said twice"
}
lost "${quick[@]}" --json -
lost "${quick[@]}" --csv -
lost list
lost topology
lost --help
lost show a.json
lost merge a.json
lost report a.json
lost compare a.json a.jsonl
lost "${quick[@]}" "${files[@]}"
whole "a full stdout is told of"
m show a.json >&4 2>err
expect_code $? 141 "show without a reader"
(trap '' PIPE && m show a.json >&4 2>>err)
expect_code $? 141 "show without a reader where SIGPIPE is ignored"
[ ! -s err ] || fail "a reader that has left is complained of"
passed "a reader that has left show is not complained of"

# What can be known to fail is refused before anything is measured.
mkdir folder
ln -s absent/folder/file broken
for file in folder /proc/nothing absent/r.json broken; do
  for option in --json --csv; do
    m "${quick[@]}" "$option" "$file" >out 2>err
    expect_code $? 2 "$option $file"
    expect_text "^mgsync: $option $file: .*name another" err
    ! grep -q 'time spent' err || fail "$option $file was measured first"
  done
done
# What cannot takes nothing else along.
m "${quick[@]}" --csv r.csv --json /dev/full --store r.jsonl >out 2>err
expect_code $? 1 "--json /dev/full"
expect_text 'No space left on device' err
expect_text '^multigrid:' out
cp a.json r.json
whole "a file that cannot be written"
m merge a.json --csv r.csv --json /dev/full >out 2>err
expect_code $? 1 "merge --json /dev/full"
expect_text '^multigrid:' out
[ -s r.csv ] || fail "merge lost its CSV"
passed "files are written each by itself"

m "${quick[@]}" --json /proc/self/fd/1 2>err | cat >out
grep -q '"schema": "mgsync-results/2"' out || fail "a pipe that has a name is no file to write to"
passed "a pipe is written to"

refused() { # WORDS...
  m "$@" >out 2>err
  expect_code $? 2 "$*"
  expect_text 'name another' err
}
refused "${quick[@]}" --json ./same --store same
refused "${quick[@]}" --json ./same --csv same
[ ! -e same ] || fail "a refused command wrote a file"
cp a.json before
refused report a.json --html a.json
refused report a.json --markdown ./a.json
refused report a.json --html page --markdown page
refused report a.json --html - --markdown -
refused merge a.json --csv a.json
refused merge a.json --json "$work/a.json"
cp a.json a.svg
refused show a.svg --figure any --svg a.svg
refused advise a.json --json a.json
{ cmp a.json before && cmp a.svg before; } || fail "a command wrote over what it reads"
passed "no file is written twice, or over what is read"

cp a.json part.json
sed -i 's/"ended": "complete"/"ended": "interrupted"/; s/"status": "measured"/"status": "interrupted"/' part.json
m show part.json >out 2>err
expect_code $? 0 "show of what was interrupted"
expect_text '^not complete: its command ended early \(interrupted\); 1 point has fewer samples, or none$' out
passed "show says what is missing"

# A store may come through a pipe, as a document may.
m show a.jsonl >before 2>err
m show <(cat a.jsonl) >out 2>>err
expect_code $? 0 "show of a store in a pipe"
cmp out before || fail "a store is shown otherwise through a pipe"
m report <(cat a.jsonl) >out 2>err
expect_code $? 0 "report of a store in a pipe"
passed "a store is read through a pipe"

# What an unset or wrong variable means is said in a sentence, before anything is measured.
told() { # WHAT TEXT COMMAND...
  local what=$1 text=$2
  shift 2
  "$@" >out 2>err
  expect_code $? 2 "$what"
  expect_text "$text" err
  [ "$(wc -l <err)" -eq 1 ] || fail "$what: more than a sentence"
}
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind("socket")'
told "a socket" '^mgsync: --json socket: it is a socket.*; name another file$' m "${quick[@]}" --json socket
for file in json csv store; do told "--$file of nothing" "^mgsync: --$file is followed by an empty word; accepted: FILE" m "${quick[@]}" "--$file" ""; done
told "--svg a.png" '^mgsync: --svg a.png: .*; accepted: a name that ends in .svg' m show a.json --figure any --svg a.png
told "a wrong MGSYNC_REFERENCE" "^mgsync: MGSYNC_REFERENCE is '/nonexistent', which is no folder with results in it" env MGSYNC_REFERENCE=/nonexistent "$mgsync" compare --reference a.json
told "a wrong TMPDIR" "^mgsync: no folder for intermediate results can be made in '/nonexistent' \\(No such file or directory\\); accepted: TMPDIR" \
  env TMPDIR=/nonexistent "$mgsync" "${quick[@]}" --processes 2
TMPDIR=/nonexistent m advise a.json >out 2>err
! grep -q TMPDIR err || fail "advise from a file asks for a folder that it does not need"
passed "wrong words and variables are told in a sentence"
