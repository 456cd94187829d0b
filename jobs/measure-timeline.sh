#!/usr/bin/env bash
# All raw files and pictures of the timeline on a machine with GPUs, in one go: what a stamp costs, paper 002's region, single
# instructions and pairs of them, and
# the rounds of barriers on one GPU and on two. Some 2 minutes.
# Usage: measure-timeline.sh BUILD FOLDER NAME   writes FOLDER/NAME-timeline.json, FOLDER/NAME-timeline/*.svg, ...
#   (BUILD: where mgsync and docs/examples/event_timeline were built, as build/gpu; NAME: "h200x2")
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 BUILD FOLDER NAME" >&2; exit 2; }
build=$1 folder=$2 name=$3
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
[ "$gpus" -gt 0 ] || { echo "$0: nvidia-smi shows no GPU here" >&2; exit 4; }
mkdir -p "$folder"

# A part that fails, or is stuck, does not take the others with it.
failed=0
part() {
  local what=$1 limit=$2 code=0
  shift 2
  printf '\n== %s\n' "$what"
  timeout --kill-after=10 "$limit" "$@" 2>&1 | tee "$folder/$name-$what.txt" || code=$?
  [ "$code" -eq 0 ] || { echo "$what: exit code $code" >&2; failed=1; }
}
study() {
  local what=$1
  shift
  part "$what" 180 "$build/mgsync" study timeline --device gpu "$@" --json "$folder/$name-$what.json" --figures "$folder/$name-$what"
}

part stamps 30 "$build/docs/examples/event_timeline"
study timeline-region --what region
study timeline-instructions --what instructions,pairs
study timeline-grid --what rounds --backend grid:auto,grid:cooperative-groups --gpus 1 --shape 1x32,4x256 --late 0
if [ "$gpus" -ge 2 ]; then
  study timeline-multigrid --what rounds --backend multigrid:auto --gpus 2 --shape 1x32,4x256 --late 0,20
fi
exit "$failed"
