#!/usr/bin/env bash
# The full maps of a machine with GPUs: every shape that fits, from one block per SM to 32 and from 32 threads to 1024, of the
# barriers of one GPU and of two (paper 000, figures 5, 7 and 8). One GPU's map takes under two minutes.
# Usage: measure-maps.sh MGSYNC FOLDER NAME   writes FOLDER/NAME/map-1.json.xz, FOLDER/NAME/map-2.json.xz and the pictures
#   beside them (NAME: "h200x2"). Only the map of so many GPUs: MGSYNC_MAPS="1" or "2" in the environment.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 MGSYNC FOLDER NAME" >&2; exit 2; }
mgsync=$1 folder=$2/$3
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
[ "$gpus" -gt 0 ] || { echo "$0: nvidia-smi shows no GPU here" >&2; exit 4; }
mkdir -p "$folder"

failed=0
for count in ${MGSYNC_MAPS:-1 2}; do
  [ "$count" -le "$gpus" ] || { echo "$0: a map of $count GPUs, and $gpus are here" >&2; continue; }
  barriers=multigrid:vendor,multigrid:auto,multigrid:library
  [ "$count" -gt 1 ] || barriers=grid:cooperative-groups,grid:auto,$barriers
  code=0
  began=$SECONDS
  # Ended by an interrupt, so that what was measured by then is written.
  timeout --signal=INT --kill-after=15 170 "$mgsync" --backend "$barriers" --gpus "$count" --shape all --timeout 20s \
    --json "$folder/map-$count.json" >"$folder/map-$count.txt" 2>&1 || code=$?
  echo "map of $count: exit code $code after $((SECONDS - began)) s"
  if [ -s "$folder/map-$count.json" ]; then
    "$mgsync" report "$folder/map-$count.json" --html "$folder/map-$count.html" >"$folder/map-$count.report.txt" 2>&1 || code=$?
    if command -v xz >/dev/null; then xz -f "$folder/map-$count.json"; fi
  fi
  [ "$code" -eq 0 ] || failed=1
done
exit "$failed"
