#!/usr/bin/env bash
# All raw files about GPU barriers that docs/results holds of a machine, by one program in one go: barriers beside load, with a
# late GPU, every method over the shapes, one rank per GPU, and the topology. Some 2 minutes with 4 GPUs.
# Usage: measure-gpus.sh MGSYNC FOLDER NAME   writes FOLDER/NAME-barriers.json, ... (NAME: "h200x2")
# POINT is the time for each point in ms (default: 60), CHECK the rounds that each is checked (default: 1000), COUNTS the numbers
# of GPUs (default: 1, 2, 4, 8 as far as there are).
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 MGSYNC FOLDER NAME" >&2; exit 2; }
mgsync=$1 folder=$2 name=$3 point=${POINT:-60} check=${CHECK:-1000}
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
[ "$gpus" -gt 0 ] || { echo "$0: nvidia-smi shows no GPU here" >&2; exit 4; }
counts=${COUNTS:-}
for n in 1 2 4 8; do [ -n "${COUNTS:-}" ] || [ "$n" -gt "$gpus" ] || counts=${counts:+$counts,}$n; done
mkdir -p "$folder"
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

# A part that fails, or is stuck, does not take the others with it.
failed=0
part() {
  local what=$1 limit=$2 code=0
  shift 2
  printf '\n== %s\n' "$what"
  timeout --kill-after=10 "$limit" "$@" --timeout 20s --check-rounds "$check" --json "$folder/$name-$what.json" || code=$?
  echo "$what: $((SECONDS - started)) s after the start"
  [ "$code" -eq 0 ] || { echo "$what: exit code $code" >&2; failed=1; }
}

started=$SECONDS
"$mgsync" topology >"$folder/$name-topology.txt"
part barriers 240 "$mgsync" --backend all --gpus "$counts" --shape b1x32,1x32,1x1024,4x256,8x256,32x64 --max-time "${point}ms"
if [ "$gpus" -ge 2 ]; then
  beside=multigrid:auto,multigrid:library,multigrid:vendor,nccl-device:hub,nccl-device:hub-relay
  hops=hop:relaxed,hop:fence-gpu,hop:fence-system,hop:release-acquire
  others=peer-stores:x512@others,peer-stores:x128@others,peer-stores:16x512@others,peer-stores:4x512@others
  others=$others,peer-loads@others,local-stores@others,local-loads@others,host-reads@others,host-reads:1x32@others
  part load-one 150 "$mgsync" --backend "$beside,$hops" --gpus 2 --shape b1x32 --max-time "$((2 * point))ms" --load "idle,$others,peer-stores:x128@all"
  part load-grid 120 "$mgsync" --backend "$beside,multigrid:crowd,$hops,hop:arrival,hop:grid" --gpus 2 --shape 1x32 --max-time "$((2 * point))ms" \
    --load idle,peer-stores:x128@all,peer-stores:x32@all,peer-loads:x128@all,host-reads@all
  for how in ipc vmm; do
    part "ranks-$how" 60 mpirun --bind-to none -np "$gpus" "$mgsync" \
      --backend multigrid:auto,multigrid:library,multigrid:inbox,nccl:stream,nccl:graph,mpi:\* \
      --gpus "$gpus" --shape 1x32 --max-time "$((3 * point))ms" --peer-memory "$how"
  done
fi
# What the host drives needs longer runs.
part batches 60 "$mgsync" --backend kernel-boundary:\*,nccl:\*,openmp:\* --gpus "1-$gpus" --shape 1x32 --max-time "$((3 * point))ms"
if [ "$gpus" -ge 2 ]; then
  # A round takes the 5 ms and more: some tens of them each.
  part late 60 "$mgsync" --backend multigrid:auto,multigrid:library,multigrid:vendor,nccl-device:hub --gpus 2 \
    --shape b1x32,1x32 --late 0,5000 --max-time 500ms
fi
exit "$failed"
