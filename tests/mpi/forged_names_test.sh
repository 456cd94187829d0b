#!/bin/bash
# forged_names_test.sh MGSYNC: names in results that would steer a terminal, begin rows of their own, run in a page or be computed by
# a spreadsheet: no command hands them on as they are.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1

evil='\\u001b[31m\\n* forged:auto 0.001 pass\\r\\u009b2J\\u202e<img src=x>|](http:\/\/e)'
python3 -c 'import lzma, sys; sys.stdout.write(lzma.open(sys.argv[1], "rt").read())' "$here/../../docs/results/h200x2/barriers.json.xz" |
  sed -E "s/\"(variant|reason|host|cpu_model|method)\": \"[^\"]*\"/\"\1\": \"$evil\"/; s/\"(threads_per_block|algorithm|latency)\":/\"$evil\":/; s/\"slowest_member\": \"/&=1+/" >"$work/a.json"
grep -q 'u001b' "$work/a.json" || fail "no name was made hostile"
name="$work/"$'b\e[31m\n* forged.json'
cp "$work/a.json" "$name"

says() { # EXIT-CODE MGSYNC-OPTIONS...
  local code=$1
  shift
  timeout "$long_s" "$mgsync" "$@" >"$work/out" 2>"$work/err"
  expect_code $? "$code" "$*"
  ! LC_ALL=C grep -q $'[\001-\010\013\014\016-\037\177]' "$work/out" "$work/err" || fail "$*: a control character"
  ! LC_ALL=C grep -q $'\302\233\|\342\200\256' "$work/out" "$work/err" || fail "$*: a character that steers"
  ! grep -q '^\* forged' "$work/out" "$work/err" || fail "$*: a forged row"
}
for file in "$work/a.json" "$name"; do
  says 0 show "$file"
  says 0 report "$file"
  says 0 advise "$file" --gpus 2 --work 20us
  says 0 show "$file" --by shapes
  ! grep -q '<img' "$work/out" || fail "HTML in a table of Markdown"
  says 0 report "$file" --markdown -
  # shellcheck disable=SC2016  # backticks of Markdown
  ! sed 's/`[^`]*`//g' "$work/out" | grep -q '<img\|[^\\]](http' || fail "HTML or a link in Markdown"
  says 0 report "$file" --html "$work/page.html"
done
says 2 show "$name.absent"
says 2 "--none"$'\e[31m\n* forged'
says 2 study launch --kind $'\e[31m\n* forged'
passed "nothing forged on a terminal, or in Markdown"

timeout "$long_s" "$mgsync" merge "$work/a.json" --csv "$work/csv" >"$work/out" 2>"$work/err"
expect_code $? 0 "merge"
! grep -Eq '(^|,)"?[=@]' "$work/csv" || fail "a formula in CSV"
expect_text "'=1\+" "$work/csv"
! LC_ALL=C grep -q $'^\\* forged\|\033' "$work/csv" || fail "a forged row in CSV"
passed "nothing forged in CSV"
