#!/usr/bin/env bash
# Installs what is missing, builds, and passes the tests. Usage: tests/run.sh [PRESET ...]; without one: host.
# MGSYNC_REQUIRE_SLURM=1: installs Slurm too, and the tests of the job scripts may not be skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
if [ ${#presets[@]} -eq 0 ]; then presets=(host); fi
needs=(tests)
# tests/jobs needs a whole Slurm; nobody gets one on a machine without being asked.
if [ "${MGSYNC_REQUIRE_SLURM:-0}" = 1 ]; then needs+=(slurm); fi
for preset in "${presets[@]}"; do
  if [ "$preset" = tsan ] || [ "$preset" = asan ]; then needs+=(sanitizers); fi
done
bash jobs/install-packages.sh "${needs[@]}"

export PATH="$PATH:/usr/local/cuda/bin"
for preset in "${presets[@]}"; do
  echo "== preset $preset"
  bash jobs/build.sh "$preset" -DMGSYNC_TESTS=ON # whatever was asked of this build folder before
  # Two more than there are CPUs, since two rows of tests mostly wait; those that need cores to themselves say so.
  ctest --preset "$preset" -j $(($(nproc) + 2)) || { bash tests/said_of_failed.sh "build/$preset"; exit 1; }
done
echo "tests/run.sh: all tests passed (${presets[*]})"
