#!/bin/bash
# ranks_test.sh MGSYNC: one rank per GPU under mpirun: what is measured, what is refused, and ranks that are lost in any
# phase: the command ends within its --timeout, names the rank, leaves no process, no shared file and no busy GPU.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/../mpi/expect.sh"
mgsync=$1
needed=${MGSYNC_REQUIRE_GPUS:-0}
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$gpus" -ge "$needed" ] || fail "$gpus GPUs here, and MGSYNC_REQUIRE_GPUS is $needed"
[ "$gpus" -ge 2 ] || skip "$gpus GPUs here; ranks that meet need two"
command -v "$MPIRUN" >/dev/null || skip "no mpirun here"
quick=(--max-time 50ms --check-rounds 400 --timeout 5s)

# Not all libraries of MPI clean up after a kill: only what was not there before counts.
shared_files() { find /dev/shm -maxdepth 1 -type f 2>/dev/null | sort; }

in_ranks() { # RANKS OPTION...
  local ranks=$1
  shift
  timeout -k 5 90 "$MPIRUN" --bind-to none -np "$ranks" "$mgsync" "${quick[@]}" --json "$work/json" "$@" >"$work/out" 2>"$work/err"
}

in_ranks "$gpus" --backend 'multigrid,peer-reduction,mpi,nccl' --gpus "2,$gpus"
expect_code $? 0 "one rank per GPU"
expect_row multigrid:auto pass "$work/out"
expect_row mpi:default pass "$work/out"
expect_text '"peer_memory": "cuda-ipc"' "$work/json"
passed "one rank per GPU"

in_ranks "$gpus" --backend 'multigrid,multigrid:host-flags' --gpus "$gpus" --peer-memory vmm
expect_code $? 0 "VMM"
expect_text '"peer_memory": "vmm-(fd|fabric)"' "$work/json"
passed "VMM memory"

if [ "$gpus" -ge 4 ]; then
  in_ranks 2 --backend 'multigrid,multigrid:vendor,mpi' --members-per-rank 2 --gpus 4
  expect_code $? 0 "two GPUs per rank"
  expect_row multigrid:auto pass "$work/out"
  passed "two GPUs per rank"
fi

in_ranks $((gpus + 1)) --backend multigrid
expect_code $? 2 "more ranks than GPUs"
expect_text "ranks [0-9]+ and [0-9]+ .*would share GPU" "$work/err"
[ "$(grep -c 'would share' "$work/err")" -eq 1 ] || fail "not said once"
passed "more ranks than GPUs"

CUDA_VISIBLE_DEVICES=0 in_ranks 2 --backend multigrid
expect_code $? 2 "two ranks on one GPU"
expect_text "ranks 0 and 1 .*would share GPU" "$work/err"
passed "two ranks on one GPU by CUDA_VISIBLE_DEVICES"

cat >"$work/isolated" <<'SCRIPT'
#!/bin/bash
export CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK
exec "$@"
SCRIPT
chmod +x "$work/isolated"
timeout -k 5 90 "$MPIRUN" --bind-to none -np 2 "$work/isolated" "$mgsync" "${quick[@]}" --backend multigrid --gpus 2 \
  >"$work/out" 2>"$work/err"
expect_code $? 0 "a GPU shown to each rank"
expect_row multigrid:auto pass "$work/out"
passed "every rank sees one GPU"

# Kernels of one process one after the other, as tools run them: each process has one GPU.
CUDA_LAUNCH_BLOCKING=1 in_ranks 2 --backend 'multigrid,multigrid:library' --gpus 2
expect_code $? 0 "launches that wait for their kernel"
expect_row multigrid:library pass "$work/out"
passed "launches that wait for their kernel"
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck synccheck; do
    timeout -k 5 90 "$MPIRUN" --bind-to none -np 2 compute-sanitizer --error-exitcode 66 --tool "$tool" "$mgsync" \
      --backend 'multigrid,multigrid:library' --gpus 2 --max-time 50ms --check-rounds 400 --timeout 20s >"$work/out" 2>"$work/err"
    expect_code $? 0 "$tool"
    expect_row multigrid:library pass "$work/out"
    [ "$(cat "$work"/out "$work"/err | grep -c 'ERROR SUMMARY: 0 errors')" -eq 2 ] || fail "$tool finds errors"
    passed "$tool, of a GPU for each rank"
  done
fi

has_ranks() { [ "$(ranks_of "$1" | wc -l)" -eq 2 ]; }

# GPUs of one host that NCCL counts to two nodes, as it does in containers that have host names of their own.
cat >"$work/two-nodes" <<'SCRIPT'
#!/bin/bash
export NCCL_HOSTID=node-$OMPI_COMM_WORLD_RANK
exec "$@"
SCRIPT
chmod +x "$work/two-nodes"
timeout -k 5 90 "$MPIRUN" --bind-to none -np 2 "$work/two-nodes" "$mgsync" "${quick[@]}" --backend 'multigrid,nccl,nccl-device' \
  --gpus 2 >"$work/out" 2>"$work/err"
expect_code $? 0 "two of NCCL's nodes"
expect_text "^waived +nccl-device.*(1 of these 2 GPUs|device API)" "$work/out"
expect_row nccl:stream pass "$work/out"
expect_row multigrid:auto pass "$work/out"
passed "two of NCCL's nodes"

lose() { # SIGNAL RANK BACKEND PHASE: start, creation (a while after the start), check or timing
  local rounds=400 before job took code
  if [ "$4" = check ]; then rounds=200000000; fi
  rm -f "$work"/store
  before=$(shared_files)
  "$MPIRUN" --bind-to none -np 2 "$mgsync" --backend "$3" --gpus 2 --precision 0.0001 --max-time 60s \
    --check-rounds "$rounds" --timeout 5s --store "$work/store" --json "$work/json" >"$work/out" 2>"$work/err" &
  job=$!
  wait_until 20 has_ranks "$job" || fail "no ranks"
  case $4 in
    start) sleep 0.2 ;;
    creation) sleep 1.2 ;;
    check) sleep 4 ;;
    timing) wait_until 40 has_samples || fail "no sample within 40 s" ;;
  esac
  lose_rank "$1" "$2" "$job" "$3 ($4)"
  expect_text "([Rr]ank $2|node rank|process rank $2|GPU $2)" "$work/err" "$work/out"
  [ "$(shared_files)" = "$before" ] || fail "a file is left in /dev/shm: $(shared_files)"
  if [ "$4" = timing ]; then has_samples || fail "the store lost its samples"; fi
  passed "$3: SIG$1 to rank $2 ($4): exit $code after $took ms"
}

lose KILL 1 multigrid start
lose STOP 0 multigrid creation
lose KILL 1 multigrid check
lose STOP 1 multigrid check
lose KILL 0 multigrid timing
lose STOP 1 multigrid timing
lose STOP 1 mpi timing
lose KILL 1 nccl timing

# The command is asked to end, as by Ctrl-C or a batch system.
"$MPIRUN" --bind-to none -np 2 "$mgsync" --backend multigrid --gpus 2 --precision 0.0001 --max-time 60s --store "$work/store2" \
  --json "$work/json" >"$work/out" 2>"$work/err" &
job=$!
wait_until 40 grep -qs '"t":"sample"' "$work/store2" || fail "no sample within 40 s"
begin=$(now_ms)
kill -s TERM "$job"
wait "$job"
took=$(($(now_ms) - begin))
[ "$took" -lt 6000 ] || fail "after SIGTERM it took $took ms to leave"
valid_json "$work/json" schema
passed "SIGTERM: left after $took ms with its results"

in_ranks "$gpus" --backend multigrid --gpus "$gpus"
expect_code $? 0 "the GPUs after all that"
passed "the GPUs are as good as before"
