#!/usr/bin/env bash
# progress_test.sh ROOT: jobs/build.sh shows how far a build is while it goes on, where nobody sits at a terminal too, and
# what went wrong where something did.
set -uo pipefail
root=$1
# shellcheck source=tests/mpi/expect.sh
. "$root/tests/mpi/expect.sh"

mkdir -p "$work/jobs"
cp "$root/jobs/build.sh" "$work/jobs"
cat >"$work/CMakePresets.json" <<'PRESETS'
{ "version": 4,
  "configurePresets": [ { "name": "p", "generator": "Ninja", "binaryDir": "${sourceDir}/build" } ],
  "buildPresets": [ { "name": "p", "configurePreset": "p", "jobs": 1 } ] }
PRESETS
# The second step waits for what is printed of the first.
cat >"$work/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.24)
project(steps NONE)
add_custom_command(OUTPUT first COMMAND true COMMENT "The first step")
add_custom_command(OUTPUT second DEPENDS first COMMENT "The second step" VERBATIM
  COMMAND sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do grep -q 'The first step' '${CMAKE_SOURCE_DIR}/out' && exit 0; sleep 1; done; exit 1")
add_custom_target(good DEPENDS second)
add_custom_target(bad COMMAND sh -c "echo what went wrong; exit 1" VERBATIM)
PROJECT

MGSYNC_PROGRESS_S=0 bash "$work/jobs/build.sh" p --target good >"$work/out" 2>"$work/err"
expect_code $? 0 "a build whose second step needs the first to show"
expect_text '^\[2/2, .*The second step' "$work/out"
passed "a step shows while the build goes on"

if bash "$work/jobs/build.sh" p --target bad >"$work/out" 2>"$work/err"; then fail "a build that fails ends with 0"; fi
expect_text '^what went wrong' "$work/out"
passed "what went wrong shows"

echo 'message(FATAL_ERROR "no such thing")' >>"$work/CMakeLists.txt"
if bash "$work/jobs/build.sh" p >"$work/out" 2>"$work/err"; then fail "a configuration that fails ends with 0"; fi
expect_text 'no such thing' "$work/err"
passed "what CMake complains of shows"
