#!/usr/bin/env bash
# run.sh [NAME ...]: plants each mutant of this folder (or those named) in a copy of the committed sources, builds the target
# that it names, runs its test, and says whether the test noticed. README.md says what a mutant is, and how long this takes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/mutants-XXXXXX")
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
python3 "$here/mutants.py" run "$work" "$@"
