#!/usr/bin/env bash
# Configures and builds a preset, and shows how far it is: one line that changes on a terminal, one every ten seconds
# elsewhere (MGSYNC_PROGRESS_S: other seconds). Usage: jobs/build.sh PRESET [CMAKE-OPTIONS ...] [--target TARGET ...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
options=()
while [ $# -gt 0 ] && [ "$1" != --target ]; do options+=("$1") && shift; done

# What CMake found is of interest where it fails.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
export NINJA_STATUS='[%f/%t, %e s] '
if [ -t 1 ]; then
  cmake --build --preset "$preset" "$@"
else
  cmake --build --preset "$preset" "$@" | {
    every_s=${MGSYNC_PROGRESS_S:-10}
    step='' next_s=$((SECONDS + every_s))
    while IFS= read -r line; do
      if [[ "$line" =~ ^\[[0-9]+/[0-9]+,\  ]]; then
        step=$line
        [ "$SECONDS" -ge "$next_s" ] || continue
        next_s=$((SECONDS + every_s))
        step=''
      fi
      printf '%s\n' "$line"
    done
    if [ -n "$step" ]; then printf '%s\n' "$step"; fi
  }
fi
