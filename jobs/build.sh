#!/usr/bin/env bash
# Configures and builds a preset, and shows how far it is: one line that changes on a terminal, one every ten seconds
# elsewhere. Usage: jobs/build.sh PRESET [CMAKE-OPTIONS ...] [--target TARGET ...]
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
  cmake --build --preset "$preset" "$@" | awk '
    /^\[[0-9]+\/[0-9]+, / { last = $0; now = $2 + 0; if (now >= next_at) { show(); next_at = now + 10 }; next }
    { print; fflush() }
    function show() { print last; fflush(); last = "" }
    BEGIN { next_at = 10 }
    END { if (last != "") print last }'
fi
