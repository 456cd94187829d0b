#!/bin/bash
# notes_test.sh MGSYNC: what hides or takes GPUs or processor time is said under the table, in the document and by
# --dry-run, not only by topology.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
cat >"$work/machine" <<'MACHINE'
{
  "format": "mgsync-machine",
  "version": 2,
  "host": "box",
  "packages": [{"id": 0}],
  "numa_nodes": [{"id": 0}],
  "cores": [{"ids": "0-63", "cpus": "0-63"}],
  "allowed_cpus": "0-63",
  "quota": {"cpus": 2, "cgroup": "31:7"},
  "gpus": [{"id": 0, "name": "made up", "uuid": "GPU-0", "pci_bus_id": "0000:01:00.0"}],
  "unseen_gpus": ["0000:ab:00.0"],
  "cuda_problem": "CUDA_VISIBLE_DEVICES is empty: CUDA shows no GPU."
}
MACHINE
quick=(--backend multigrid --max-time 100ms --check-rounds 100)
described=(--topology "$work/machine" "${quick[@]}" --dry-run)

timeout 60 "$mgsync" "${described[@]}" >"$work/out" 2>"$work/err"
expect_code $? 0 "a quota of 2 CPUs"
expect_text '^2 host members' "$work/out"
[ "$(grep -c '^ *multigrid:auto  *measured' "$work/out")" -eq 1 ] || fail "more members than the quota has time for"
for note in 'A cgroup quota leaves box the time of 2 CPU\(s\), fewer than the 64 of its mask' \
  'CUDA shows none of 1 GPUs on box: CUDA_VISIBLE_DEVICES is empty' 'no driver shows here \(0000:ab:00.0\)' \
  'There are GPUs here, and host members are measured'; do
  expect_text "^note: .*$note" "$work/out"
done
timeout 60 "$mgsync" "${described[@]}" --members 2,4 --verbose >"$work/out" 2>"$work/err"
expect_code $? 0 "--dry-run"
expect_text 'waived: more host threads than a cgroup quota' "$work/out"
"$mgsync" "${described[@]}" --device gpu >"$work/out" 2>"$work/err"
expect_code $? 2 "--device gpu without one"
expect_text "^mgsync: --device is 'gpu', and (CUDA shows none of them|this mgsync was built without CUDA); accepted" "$work/err"
passed "notes in --dry-run"

# What a file describes is not measured: its figures would be this machine's.
"$mgsync" --topology "$work/machine" "${quick[@]}" --json "$work/json" >"$work/out" 2>"$work/err"
expect_code $? 2 "a measurement of a described machine"
expect_text '^mgsync: --topology .*; accepted: --dry-run' "$work/err"
[ ! -e "$work/json" ] || fail "a described machine was measured"
passed "a described machine is not measured"

# One of this machine's hardware threads, and not the others.
first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
[ "$(nproc)" -gt 1 ] || skip "this machine has one hardware thread: no mask can leave out a part"
timeout 60 taskset -c "$first" "$mgsync" --device host --oversubscribe --members 2 "${quick[@]}" --json "$work/json" >"$work/out" 2>"$work/err"
expect_code $? 0 "a mask of one hardware thread"
timeout 60 taskset -c "$first" "$mgsync" --device host --oversubscribe --members 2 "${quick[@]}" --dry-run >"$work/plan" 2>>"$work/err"
timeout 60 "$mgsync" show "$work/json" >"$work/shown" 2>>"$work/err"
note='1 of the [0-9]+ hardware threads of .* may be used'
for file in out plan shown; do expect_text "^note: .*$note" "$work/$file"; done
expect_text "\"$note" "$work/json"
valid_json "$work/json" machine notes 0
passed "notes under the table, in the document and in --dry-run"
