#!/bin/bash
# compare_test.sh MGSYNC: compare, merge, show and report with real files, and --resume and --processes when something is
# otherwise: what they print, write and end with.
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
    expect_text '^note: .*\.json and .*/again\.json are of the same run$' "$work/out"
    grep -q 'with too few batches' "$work/out" || return
  done
  fail "too few batches within 120 s"
}

# Two runs of one machine, measured when it was quiet: nothing changed, and no gate is shut.
ends 0 "two runs" "$mgsync" compare "$results/h100x1/reference-1.json.xz" "$results/h100x1/reference-3.json.xz" --fail-slower 10%
expect_text '^0 slower, 0 faster, 12 without a difference shown' "$work/out"
if grep -q 'of the same run' "$work/out"; then fail "two runs are taken for one"; fi
expect_text '^gate --fail-slower 10%: passed' "$work/out"
# Files of a side, in a folder of a reference's name, and one that is not there and came with mgsync.
mkdir "$work/h100x1"
cp "$results"/h100x1/reference-[13].json.xz "$results/h100x1/barriers.json.xz" "$work/h100x1"
pushd "$work" >/dev/null || exit 1
for folder in h100x1 "$work/h100x1"; do
  ends 0 "two files of BASE" "$mgsync" compare "$folder/reference-1.json.xz,$folder/barriers.json.xz" "$folder/reference-3.json.xz"
  ends 0 "two files of NEW" "$mgsync" compare "$folder/reference-3.json.xz" "$folder/reference-1.json.xz,$folder/barriers.json.xz"
  ends 2 "one that is not there" "$mgsync" compare "$folder/reference-1.json.xz,$folder/reference-2.json.xz" "$folder/reference-3.json.xz"
  expect_text "^mgsync: $folder/reference-2.json.xz: there is no such file; accepted: /.*/h100x1/reference-2.json.xz, which came" "$work/err"
done
popd >/dev/null || exit 1
# With no room for the shift of a process one of them shows: what --noise is for.
ends 0 "two runs without noise" "$mgsync" compare "$results/h100x1/reference-1.json.xz" "$results/h100x1/reference-3.json.xz" --noise 0
expect_text '^[1-9][0-9]* slower|^0 slower, [1-9]' "$work/out"
ends 2 "another machine" "$mgsync" compare "$results/host64/processes-1.json.xz" "$results/h200x1/grid-barriers.json.xz"
expect_text 'the number of GPUs is [1-9], was 0.*--across machines' "$work/err"
passed "compare: equal runs, other machines"

measure "$work/a" --backend multigrid:inbox
measure "$work/b" --backend multigrid:hub
ends 2 "nothing in common" "$mgsync" compare "$work/a.json" "$work/b.jsonl"
expect_text 'no measured point in common' "$work/err"
ends 0 "merging" "$mgsync" merge "$work/a.jsonl" "$work/b.jsonl" "$work/b.json" --json "$work/m.json" --store "$work/m.jsonl"
expect_row multigrid:inbox pass "$work/out"
expect_row multigrid:hub pass "$work/out"
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

ends 4 "a ledger of what was merged alone" "$mgsync" ledger "$work/m.json"
[ ! -s "$work/out" ] || fail "an empty table"
expect_text 'm.json was merged from other files' "$work/err"
expect_text '^mgsync: nothing was counted: none of these files has checked rounds of its own; accepted: ' "$work/err"
ends 0 "a ledger of it and of one that it was merged from" "$mgsync" ledger "$work/m.json" "$work/a.json" --into "$work/rounds.jsonl"
ends 4 "nothing more for a ledger" "$mgsync" ledger "$work/m.json" --into "$work/rounds.jsonl"
expect_text 'multigrid:inbox' "$work/out"
passed "a ledger of no rounds ends with 4"

# A bit that flipped in a store: show says so, and that a failure may be among what it skipped. Where nothing is left, it fails.
python3 - "$work/m.jsonl" "$work/flipped.jsonl" "$work/ruined.jsonl" <<'PYTHON' || fail "no damaged stores"
import sys
def flipped(line):
    return line.replace('"status":"measured"', '"status":"neasured"').replace('"t":"sample"', '"t":"rample"').replace('"t":"point"', '"t":"qoint"')
lines = open(sys.argv[1]).read().splitlines(keepends=True)
results = [i for i, line in enumerate(lines) if '"t":"result"' in line]
open(sys.argv[2], "w").write("".join(flipped(line) if i == results[0] else line for i, line in enumerate(lines)))
open(sys.argv[3], "w").write("".join(line if '"t":"header"' in line else flipped(line) for line in lines))
PYTHON
ends 0 "show of a damaged store" "$mgsync" show "$work/flipped.jsonl"
expect_text 'flipped.jsonl. line [0-9]+: damaged, skipped' "$work/err"
expect_text '^damaged: lines of .*flipped.jsonl were skipped, and what they said is missing here: that a point failed, too' "$work/out"
ends 1 "show of a store without an intact line" "$mgsync" show "$work/ruined.jsonl"
ends 0 "show --by of a damaged store" "$mgsync" show "$work/flipped.jsonl" --by members
expect_text 'damaged, skipped' "$work/err"
"$mgsync" advise "$work/flipped.jsonl" --work 20us >"$work/out" 2>"$work/err"
expect_text 'damaged, skipped' "$work/err"
ends 5 "a gate beside a damaged store" "$mgsync" compare "$work/m.json" "$work/flipped.jsonl" --fail-slower 10% --allow-missing
expect_text '^gate --fail-slower 10%: SHUT by 1 damaged file$' "$work/out"
expect_text 'flipped.jsonl is damaged: that a point failed may stand in what was skipped' "$work/out"
passed "show, advise and a gate say what is damaged"

# What decides a result besides the machine: a store that was measured under other variables is not gone on with.
short=(--device host --oversubscribe --members 2 --backend multigrid:inbox --max-time 200ms --check-rounds 200)
ends 0 "a store" env OMP_NUM_THREADS=2 "$mgsync" "${short[@]}" --store "$work/threads.jsonl"
ends 2 "--resume under another OMP_NUM_THREADS" env OMP_NUM_THREADS=3 "$mgsync" "${short[@]}" --store "$work/threads.jsonl" --resume
expect_text "environment OMP_NUM_THREADS is '3', was '2'" "$work/err"
ends 0 "--resume under the same" env OMP_NUM_THREADS=2 "$mgsync" "${short[@]}" --store "$work/threads.jsonl" --resume
passed "--resume compares the variables"

# The second of three processes is killed: what there is, is of one, has no interval, and does not claim to be complete.
"$mgsync" "${short[@]}" --processes 3 --json "$work/killed.json" >"$work/out" 2>"$work/err" &
parent=$!
for _ in $(seq 6000); do
  if grep -q '^process 2 of 3' "$work/err" && child=$(pgrep -P "$parent" -f -- ' --seed '); then kill -9 "$child" && break; fi
  sleep 0.01
done
wait "$parent"
expect_code $? 137 "a process of --processes that was killed"
expect_text '"ended": "error"' "$work/killed.json"
expect_text '^multigrid:' "$work/out"
expect_text '1 process only' "$work/out"
expect_text '^mgsync: 1 of 3 processes gave results, then one ended with exit code 137' "$work/err"
cp "$work/a.json" "$work/one.json"
ends 0 "one file over processes" "$mgsync" merge "$work/one.json" --over-processes
expect_text '^multigrid:' "$work/out"
expect_text '1 process only' "$work/out"
passed "one process has no interval over processes"

# All that is committed in one report; a study's tables, also of points that have an outcome and no number.
ends 0 "one report of all" "$mgsync" report "$results"/*/*.json.xz --html "$work/all.html"
if grep -q 'since that failed' "$work/all.html"; then fail "an evaluation failed"; fi
ends 0 "show of outcomes" "$mgsync" show "$results/h200x2/blocking.json.xz"
expect_text 'tried in 205 cases: each came to an outcome' "$work/out"
[ "$(wc -l <"$work/out")" -gt 50 ] || fail "show prints no tables of the study"
passed "one report of all files, and a study's tables"

# One pair of batches is one.
ends 0 "verify" "$mgsync" --device host study verify --max-time 20ms --json "$work/verify.json"
python3 - "$work/verify.json" <<'PYTHON' || fail "no verify of one batch"
import json, sys
document = json.load(open(sys.argv[1]))
for one in document["results"]:
    for metric in one["metrics"].values():
        metric["raw"] = metric["raw"][:1]
json.dump(document, open(sys.argv[1], "w"), indent=1)
PYTHON
ends 0 "show of one pair" "$mgsync" show "$work/verify.json"
expect_text 'by 1 pair of batches' "$work/out"

# A gate that is shut: the same file with latencies of a nanosecond as the base, which no busy machine's spread reaches.
python3 - "$work/a.json" "$work/fast.json" <<'PYTHON' || fail "no faster base"
import json, sys
document = json.load(open(sys.argv[1]))
for one in document["results"]:
    latency = one["metrics"]["latency"]
    latency["raw"] = [1e-3 for value in latency["raw"]]
json.dump(document, open(sys.argv[2], "w"), indent=1)
PYTHON
ends 5 "a gate" "$mgsync" compare "$work/fast.json" "$work/a.json" --fail-slower 10%
expect_text 'SHUT by 1 point' "$work/out"
ends 0 "the other way round" "$mgsync" compare "$work/a.json" "$work/fast.json" --fail-slower 10%
ends 0 "without a gate" "$mgsync" compare "$work/fast.json" "$work/a.json"
expect_text '^1 slower' "$work/out"
ends 0 "what the host drives" "$mgsync" compare "$results/h200x2/sweep.json.xz" "$results/h200x2/barriers.json.xz" --across machines \
  --fail-slower 10% --allow-missing
python3 - "$results/h200x2/work.json.xz" "$work/later.json" <<'PYTHON' || fail "no file of slower calls"
import json, lzma, sys
document = json.load(lzma.open(sys.argv[1]))
for one in document["results"]:
    if one["metrics"]:
        latency = one["metrics"]["latency"]
        latency["raw"] = [1.3 * value for value in latency["raw"]]
document["seed"] += 1  # another run
json.dump(document, open(sys.argv[2], "w"), indent=1)
PYTHON
ends 0 "what the host drives, slower" "$mgsync" compare "$results/h200x2/work.json.xz" "$work/later.json" --fail-slower 10%
expect_text '^  [0-9]+ points driven by the host are worse by less than runs of one build may differ by .*decide$' "$work/out"
passed "compare: a gate shuts with 5"

# The check of a node that docs/report.md names, on a file as a run without options writes it: of 2 H200s the default
# variants at 1x32, cut out of what was measured there. What only the reference has is counted, and shuts nothing.
"$mgsync" list --device host >"$work/list" 2>&1 || fail "no list of variants"
python3 - "$results/h200x2/barriers.json.xz" "$work/list" "$work/here.json" "$work/few.json" "$work/slow.json" <<'PYTHON' || fail "no file of a short run"
import json, lzma, re, sys
defaults = set(re.findall(r"^  (\S+) .*\(default\)$", open(sys.argv[2]).read(), re.M))
document = json.load(lzma.open(sys.argv[1]))
document["results"] = [one for one in document["results"] if f"{one['subject']}:{one['variant']}" in defaults
                       and one["axes"].get("blocks_per_sm", {}).get("value") == 1 and one["axes"].get("threads_per_block", {}).get("value") == 32]
assert len(document["results"]) > 10, defaults
json.dump(document, open(sys.argv[3], "w"), indent=1)
document["results"] = [one for one in document["results"] if one["subject"] == "multigrid"]
json.dump(document, open(sys.argv[4], "w"), indent=1)
for one in document["results"]:
    one["metrics"]["latency"]["raw"] = [1.5 * value for value in one["metrics"]["latency"]["raw"]]
json.dump(document, open(sys.argv[5], "w"), indent=1)
PYTHON
mkdir "$work/reference-of-2"
cp "$results/h200x2/library.json.xz" "$results/h200x2/sweep.json.xz" "$work/reference-of-2" # not the process that is judged
export MGSYNC_REFERENCE=$work/reference-of-2
ends 0 "the check of a node" "$mgsync" compare --reference "$work/here.json" --fail-slower 10%
expect_text '^This node is normal: of 1[0-9] points .* 2[0-9][0-9] points of the reference were not measured here' "$work/out"
if grep -q '^only in' "$work/out"; then fail "what only the reference has is listed"; fi
ends 4 "a check by two points" "$mgsync" compare --reference "$work/few.json"
expect_text '^Whether this node is normal cannot be told: of 2 points' "$work/out"
ends 5 "a check of a slow node" "$mgsync" compare --reference "$work/slow.json"
expect_text '^This node is not normal: of 2 points .* 2 are, or seem, worse by more than 10%' "$work/out"
unset MGSYNC_REFERENCE
mkdir "$work/reference"
cp "$results/h200x2/library.json.xz" "$work/reference"
ends 2 "a machine without a reference" env MGSYNC_REFERENCE="$work/reference" "$mgsync" compare --reference "$results/h100x1/barriers.json.xz"
expect_text 'there is no reference of the kind of machine .*; there are results of: 2 x NVIDIA H200' "$work/err"
# A copy of a reference is not held against itself.
cp "$results/h200x2/library.json.xz" "$work/copy.json.xz"
ends 2 "the only reference" env MGSYNC_REFERENCE="$work/reference" "$mgsync" compare --reference "$work/copy.json.xz"
expect_text 'copy.json.xz is itself the reference for this kind of machine.*; accepted: results of another run' "$work/err"
"$mgsync" compare --reference "$work/copy.json.xz" >"$work/out" 2>"$work/err"
expect_text '^BASE .*h200x2/(barriers|sweep).json.xz ' "$work/out"
passed "compare --reference: normal, not normal, too little to tell, no reference"

for wrong in 'compare' 'compare a' 'compare a b c' 'compare a b' 'merge' 'merge nowhere' 'compare a b --across planets' \
  'compare a, b' 'merge a --noise 1%' 'compare a b --csv c' '--fail-slower 10%'; do
  # shellcheck disable=SC2086  # several words on purpose
  ends 2 "mgsync $wrong" "$mgsync" $wrong
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "mgsync $wrong: not one sentence"
done
passed "wrong words end with 2"
