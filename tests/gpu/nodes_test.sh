#!/bin/bash
# nodes_test.sh MGSYNC JACOBI_NODES: GPU members on virtual nodes. Ranks of two nodes share one GPU, whose kernels run at
# once under MPS alone: without MPS, or host names of one's own, it is skipped with the reason. Of several GPUs it takes one.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/../mpi/expect.sh"
mgsync=$1 jacobi=$2
virtual=$here/../../jobs/virtual-nodes.sh
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$gpus" -ge "${MGSYNC_REQUIRE_GPUS:-0}" ] || fail "$gpus GPUs here, and MGSYNC_REQUIRE_GPUS is $MGSYNC_REQUIRE_GPUS"
[ "$gpus" -ge 1 ] || skip "no GPU here"
first=${CUDA_VISIBLE_DEVICES:-0}
export CUDA_VISIBLE_DEVICES=${first%%,*}
bash "$virtual" 1 1 true >"$work/out" 2>&1
[ $? -ne 77 ] || skip "$(cat "$work/out")"
command -v nvidia-cuda-mps-control >/dev/null || skip "no MPS here, without which ranks take turns on a GPU"

export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mps_log
mkdir "$work/mps" "$work/mps_log"
timeout 10 nvidia-cuda-mps-control -d >"$work/out" 2>&1 || skip "MPS does not start: $(cat "$work/out")"
trap 'echo quit | timeout 10 nvidia-cuda-mps-control >/dev/null; cleanup' EXIT
quick=(--gpus 2 --oversubscribe --max-time 100ms --check-rounds 1000 --verbose)

on_nodes() { # MGSYNC-OPTIONS...
  timeout -k 5 "$long_s" bash "$virtual" 2 1 "$mgsync" "${quick[@]}" "$@" >"$work/out" 2>"$work/err"
}
on_nodes --backend nodes:leader,nodes:auto,multigrid:library --shape b2x32,1x32 --json "$work/json"
expect_code $? 0 "two virtual nodes of one GPU"
expect_row nodes:leader pass "$work/out"
expect_text '^waived +multigrid:library .*2 hosts' "$work/out"
expect_text 'leader over 2 nodes, which share GPUs' "$work/json"
expect_text '"order": "inside nodes"' "$work/json"
expect_text '"control_flagged": true' "$work/json"
passed "two virtual nodes of one GPU"

timeout -k 5 "$long_s" bash "$virtual" 2 1 "$mgsync" --gpus 2 --backend nodes >"$work/out" 2>"$work/err"
expect_code $? 2 "ranks that share a GPU without being asked to"
expect_text 'would share GPU 0' "$work/err"
passed "ranks share no GPU unasked"

# A node is stopped in the middle: the other ends and names it.
timeout -k 5 "$long_s" bash "$virtual" 2 1 "$mgsync" "${quick[@]}" --backend nodes:leader --shape 1x32 --max-time 100s --precision 0.0001 \
  --timeout 5s --store "$work/store" >"$work/out" 2>"$work/err" &
job=$!
wait_until "$long_s" has_samples || fail "no sample within $long_s s"
victim=$(ranks_of "$(pgrep -P "$job" | head -n 1)" | awk '$1 == 1 { print $2 }')
[ -n "$victim" ] || fail "no rank 1"
kill -s STOP "$victim"
if wait "$job"; then fail "exit code 0 although node1 was stopped"; fi
expect_text 'node node1 \(rank 1\)|rank 1 .*is stopped|rank 1 .*on node1\) did not come' "$work/err"
wait_until 30 gone "$victim" || fail "the process of rank 1 is left"
passed "a stopped node is named"

for ranks in 2 3; do
  timeout -k 5 "$long_s" bash "$virtual" "$ranks" 1 "$jacobi" 301 199 200 >"$work/out" 2>"$work/err"
  expect_code $? 0 "Jacobi over $ranks nodes"
  expect_text '0 cells differ from one GPU' "$work/out"
done
passed "Jacobi over 2 and 3 virtual nodes computes what one GPU does"
