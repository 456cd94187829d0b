#!/bin/bash
# virtual_nodes_test.sh MGSYNC: barriers over 2 to 8 virtual nodes of this machine: they are measured and checked, nodes
# are counted and shown, no two members share a core where there are enough, and who does not come is named.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
virtual=$here/../../jobs/virtual-nodes.sh
bash "$virtual" 1 1 true >"$work/out" 2>&1
[ $? -ne 77 ] || skip "$(cat "$work/out")"
quick=(--device host --oversubscribe --max-time 200ms --check-rounds 300 --verbose)

on_nodes() { # NODES RANKS MGSYNC-OPTIONS...
  local nodes=$1 ranks=$2
  shift 2
  timeout -k 5 "$long_s" bash "$virtual" "$nodes" "$ranks" "$mgsync" "${quick[@]}" "$@" >"$work/out" 2>"$work/err"
}

for shape in "2 1" "4 2" "8 1"; do
  read -r nodes ranks <<<"$shape"
  on_nodes "$nodes" "$ranks" --backend 'nodes:leader,nodes:rail,mpi,multigrid' --members $((nodes * ranks)) --json "$work/json"
  expect_code $? 0 "$nodes nodes of $ranks"
  for one in nodes:leader nodes:rail mpi:default; do expect_row "$one" pass "$work/out"; done
  expect_text '^waived +multigrid:auto .*several hosts' "$work/out"
  expect_text "\"nodes\": \\{\"value\": $nodes," "$work/json"
  expect_text "leader over $nodes nodes" "$work/json"
  expect_text '"control_flagged": true' "$work/json"
  expect_text 'memory inside nodes: between nodes it orders execution' "$work/out"
  expect_text '"order": "inside nodes"' "$work/json"
done
expect_text '"hosts": \["node0", "node1", "node2", "node3", "node4", "node5", "node6", "node7"\]' "$work/json"
passed "2, 4 and 8 virtual nodes"

on_nodes 4 1 --backend nodes --nodes 2-4 --json "$work/json"
expect_code $? 0 "a sweep over nodes"
for nodes in 2 3 4; do expect_text "leader over $nodes nodes" "$work/json"; done
on_nodes 2 1 --backend nodes --nodes 3 && fail "three of two nodes"
expect_text 'mgsync: --nodes 3: the ranks are on 2 nodes; accepted: 1-2' "$work/err"
on_nodes 2 1 --backend nodes --nodes 2 --per-node && fail "both --nodes and --per-node"
expect_text 'mgsync: --nodes says how many nodes meet, and --per-node' "$work/err"
passed "a sweep over the number of nodes"

# Two nodes of one machine have one set of cores: two members, two cores.
if [ "$(nproc)" -ge 2 ]; then
  on_nodes 2 1 --backend mpi --members 2 --json "$work/json"
  expect_code $? 0 "pinned"
  placed=$(grep -o '"placed": "[^"]*"' "$work/json" | head -n 1)
  [ "$(grep -o 'CPU [0-9]*' <<<"$placed" | sort -u | wc -l)" -eq 2 ] || fail "both members are on one core: $placed"
  passed "members of two virtual nodes are on cores of their own"
fi

# A rank is stopped, or is gone, in the middle of a barrier: the others end and name its node.
under_way() { # a long job on three nodes; its ranks in `pids`
  timeout -k 5 "$long_s" bash "$virtual" 3 1 "$mgsync" "${quick[@]}" --backend nodes:leader --members 3 --max-time 100s \
    --precision 0.0001 --timeout 5s --store "$work/store" >"$work/out" 2>"$work/err" &
  job=$!
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
  launcher=$(pgrep -P "$job" | head -n 1)
}
lose_node1() { # SIGNAL; the exit code of the job in `code`
  rm -f "$work/store"
  under_way
  victim=$(ranks_of "$launcher" | awk '$1 == 1 { print $2 }')
  [ -n "$victim" ] || fail "no rank 1"
  kill -s "$1" "$victim"
  wait "$job"
  code=$?
}
for signal in STOP KILL; do
  # Between two batches all ranks make the barrier anew, and the signal may meet them there: then it is sent again.
  for _ in 1 2 3; do
    lose_node1 "$signal"
    grep -q 'stuck: creating' "$work/err" || break
  done
  [ "$code" -ne 0 ] || fail "exit code 0 although node1 was lost"
  if [ "$signal" = STOP ]; then
    expect_text 'nodes \(leader\): given up at round [0-9]+ of a run; does not answer: node node1 \(rank 1\)' "$work/err"
  else
    expect_text 'rank 1|node1' "$work/err"
  fi
  wait_until 30 gone "$victim" || fail "the process of rank 1 is left"
  passed "SIG$signal to the proxy of node1 ends the others"
done

rm -f "$work/store"
under_way
kill -s TERM "$launcher"
if wait "$job"; then fail "exit code 0 although the job was cancelled"; fi
passed "a job that is cancelled ends"
