#!/bin/bash
# publish_test.sh MGSYNC: docs/publish.sh packs a measured file without the name of its host, says what moved since the file before,
# counts the checked rounds once however often it is published, and leaves out what was cut short.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/../mpi/expect.sh"
command -v xz >/dev/null || skip "no xz here"
mgsync=$1
mkdir -p "$work/root/docs/results/one" "$work/raw/one"
cp "$here/../../docs/publish.sh" "$work/root/docs"
ledger=$work/root/docs/results/ledger.jsonl.xz
xz -c </dev/null >"$ledger"
results=$work/root/docs/results/one

publish() { bash "$work/root/docs/publish.sh" "$mgsync" "$work/raw/one" >"$work/out" 2>"$work/err"; }

"$mgsync" --device host --backend multigrid:central --members 2 --oversubscribe --max-time 20ms --check-rounds 200 \
  --json "$work/raw/one/central.json" >"$work/out" 2>&1 || fail "nothing was measured"
echo "Machine some-host (this machine)" >"$work/raw/one/topology.txt"
echo '{"node":"host-0123456789"}' >"$work/raw/one/accept.jsonl"
sed 's/"ended": "complete"/"ended": "interrupted by signal 2"/' "$work/raw/one/central.json" >"$work/raw/one/late.json"
publish
expect_code $? 0 "what was measured"
expect_text 'late was cut short, and is left out' "$work/err"
[ "$(cd "$results" && echo *)" = "accept.jsonl central.json.xz topology.txt" ] || fail "published: $(ls "$results")"
xz -dc "$results/central.json.xz" >"$work/json"
expect_text '"host": "host-[0-9a-f]{10}"' "$work/json"
rounds=$(xz -dc "$ledger" | wc -l)
[ "$rounds" -gt 0 ] || fail "no rounds in the ledger"
passed "published without names, its rounds in the ledger"

expect_text '^Machine one \(this machine\)$' "$results/topology.txt"
publish
expect_code $? 0 "the same once more"
[ ! -e "$results/moved.txt.xz" ] || fail "what was published before moved"
[ "$(wc -l <"$results/accept.jsonl")" -eq 1 ] || fail "an acceptance was published twice"
passed "published once more: nothing moved, and no acceptance twice"

# The same figures of another time; another file has no point in common with what it replaces, and failed.
rm "$work/raw/one/late.json"
sed -i 's/"started": "[0-9]*/"started": "1999/' "$work/raw/one/central.json"
"$mgsync" --device host --backend multigrid:central --members 3 --oversubscribe --max-time 20ms --check-rounds 200 \
  --json "$work/json" >"$work/out" 2>&1 || fail "nothing was measured of three"
xz -c "$work/json" >"$results/another.json.xz"
sed 's/"status": "measured"/"status": "error"/' "$work/raw/one/central.json" >"$work/raw/one/another.json"
publish
expect_code $? 0 "another time"
expect_text '^== one/another$' "$work/out"
expect_text '^exit code 2$' "$work/out"
expect_text '^== one/central$' "$work/out"
expect_text '^0 slower, 0 faster, ' "$work/out"
xz -dc "$results/moved.txt.xz" >"$work/moved"
expect_text '^BASE +[^ ]*/one/central\.json\.xz \(host-' "$work/moved"
cp "$ledger" "$work/ledger.xz"
publish
cmp -s "$ledger" "$work/ledger.xz" || fail "rounds were counted twice"
passed "published again: what moved, and no round twice"

bash "$work/root/docs/publish.sh" "$mgsync" >"$work/out" 2>"$work/err"
expect_code $? 2 "no folder"
expect_text '^usage: ' "$work/err"
passed "wrong use"
