#!/bin/bash
# compare_test.sh MGSYNC: mgsync compare and merge with real files: what they print, write and end with.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/../mpi/expect.sh"
mgsync=$1
results=$here/../../docs/results

ends() { # CODE WHAT COMMAND...
  local code=$1 what=$2
  shift 2
  "$@" >"$work/out" 2>"$work/err"
  expect_code $? "$code" "$what"
}
# With enough batches to compare: on a busy machine they take longer.
measure() { # FILE-STEM OPTIONS...
  local stem=$1 time
  shift
  for time in 4s 30s 120s; do
    rm -f "$stem.jsonl" "$stem.json"
    ends 0 "measuring" "$mgsync" --device host --oversubscribe --members 2 --max-time "$time" --check-rounds 200 \
      --store "$stem.jsonl" --json "$stem.json" "$@"
    cp "$stem.json" "$work/again.json"
    ends 0 "a file with its copy" "$mgsync" compare "$stem.json" "$work/again.json"
    grep -q 'with too few batches' "$work/out" || return
  done
  fail "too few batches within 120 s"
}

# Two runs of one machine, measured when it was quiet: nothing changed, and no gate is shut.
ends 0 "two runs" "$mgsync" compare "$results/h200x4-host-run1.json" "$results/h200x4-host-run2.json" --fail-slower 10%
expect_text '^0 slower, 0 faster, 10 without a difference shown, 2 with too few batches' "$work/out"
expect_text '^gate --fail-slower 10%: passed' "$work/out"
# With no room for the shift of a process one of them shows: what --noise is for.
ends 0 "two runs without noise" "$mgsync" compare "$results/h200x4-host-run1.json" "$results/h200x4-host-run2.json" --noise 0
expect_text '^[1-9][0-9]* slower|^0 slower, [1-9]' "$work/out"
ends 2 "another machine" "$mgsync" compare "$results/h200x4-host-run1.json" "$results/h200x1-grid-barriers.json"
expect_text 'the number of GPUs is [1-9], was 0.*--across machines' "$work/err"
passed "compare: equal runs, other machines"

measure "$work/a" --backend multigrid:inbox
measure "$work/b" --backend multigrid:hub
ends 2 "nothing in common" "$mgsync" compare "$work/a.json" "$work/b.jsonl"
expect_text 'no measured point in common' "$work/err"
ends 0 "merging" "$mgsync" merge "$work/a.jsonl" "$work/b.jsonl" "$work/b.json" --json "$work/m.json" --store "$work/m.jsonl"
expect_text '^multigrid +inbox .* pass' "$work/out"
expect_text '^multigrid +hub .* pass' "$work/out"
valid_json "$work/m.json" results 1 metrics latency median
[ "$(grep -c '"t":"sample"' "$work/m.jsonl")" -eq "$(cat "$work"/[ab].jsonl | grep -c '"t":"sample"')" ] ||
  fail "a store and its document were counted twice"
ends 0 "showing a merged store" "$mgsync" show "$work/m.jsonl"
ends 2 "merging into a store that exists" "$mgsync" merge "$work/a.jsonl" --store "$work/m.jsonl"
expect_text 'exists' "$work/err"
cp "$work/m.jsonl" "$work/torn.jsonl"
printf '{"t":"sample","key":"0123' >>"$work/torn.jsonl"
: >"$work/empty.jsonl"
ends 0 "a torn store and an empty one" "$mgsync" merge "$work/torn.jsonl" "$work/empty.jsonl" --csv "$work/m.csv"
expect_text 'torn after' "$work/err"
expect_text 'empty.jsonl is empty and was left out' "$work/err"
[ "$(wc -l <"$work/m.csv")" -eq 3 ] || fail "the CSV does not have a header and two rows"
passed "merge: counts once, reads what is torn"

# A gate that is shut: the same file with every latency a tenth of what it is as the base.
python3 - "$work/a.json" "$work/fast.json" <<'PYTHON' || fail "no faster base"
import json, sys
document = json.load(open(sys.argv[1]))
for one in document["results"]:
    latency = one["metrics"]["latency"]
    latency["raw"] = [value / 10 for value in latency["raw"]]
json.dump(document, open(sys.argv[2], "w"), indent=1)
PYTHON
ends 5 "a gate" "$mgsync" compare "$work/fast.json" "$work/a.json" --fail-slower 10%
expect_text 'SHUT by 1 point' "$work/out"
ends 0 "the other way round" "$mgsync" compare "$work/a.json" "$work/fast.json" --fail-slower 10%
ends 0 "without a gate" "$mgsync" compare "$work/fast.json" "$work/a.json"
expect_text '^1 slower' "$work/out"
passed "compare: a gate shuts with 5"

for wrong in 'compare' 'compare a' 'compare a b c' 'compare a b' 'merge' 'merge nowhere' 'compare a b --across planets' \
  'compare a, b' 'merge a --noise 1%' 'compare a b --csv c' '--fail-slower 10%'; do
  # shellcheck disable=SC2086  # several words on purpose
  ends 2 "mgsync $wrong" "$mgsync" $wrong
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "mgsync $wrong: not one sentence"
done
passed "wrong words end with 2"
