#!/usr/bin/env bash
# run.sh [--in FOLDER] [NAME ...]: plants each mutant of this folder (or those named) in a copy of the committed sources, builds
# the target that it names, runs its test, and says whether the test noticed. With a folder of your own a run that was ended
# goes on where it was. README.md says what a mutant is, and how long this takes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --in ]; then
  work=${2:?--in needs a folder}
  shift 2
  mkdir -p "$work"
else
  work=$(mktemp -d "${TMPDIR:-/tmp}/mutants-XXXXXX")
  trap 'rm -rf "$work"' EXIT
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
python3 "$here/mutants.py" run "$work" "$@"
