#!/usr/bin/env bash
# Compares the barriers of this machine: installs what is missing, builds, runs mgsync in one process and under
# mpirun. With a CUDA toolkit and a GPU it measures the GPUs. What follows on the command line goes to mgsync.
set -euo pipefail
cd "$(dirname "$0")/.."

bash jobs/install-packages.sh

export PATH="$PATH:/usr/local/cuda/bin"
preset=host
if command -v nvcc >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q GPU; then preset=gpu; fi
echo "building (preset $preset) ..."
cmake --preset "$preset" -DMGSYNC_TESTS=OFF >/dev/null
cmake --build --preset "$preset" --target mgsync | tail -n 1
mgsync=build/$preset/mgsync
results=build/$preset/local
mkdir -p "$results"

# Open MPI refuses to start as root unless told twice.
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

workers=$(nproc)
if [ "$preset" = gpu ]; then workers=$(nvidia-smi -L | grep -c GPU); fi
ranks=$((workers < 2 ? 2 : workers > 4 ? 4 : workers))
spare=()
if [ "$workers" -lt 2 ]; then spare=(--oversubscribe); fi

printf '\n== one process\n'
code=0
"$mgsync" "${spare[@]}" --json "$results/one-process.json" "$@" || code=$?
# GPU members are measured in one process so far; across ranks the members are host threads.
where=()
if [ "$preset" = gpu ]; then where=(--device host); fi
printf '\n== %d ranks\n' "$ranks"
mpirun -np "$ranks" "${spare[@]}" "$mgsync" "${spare[@]}" "${where[@]}" --json "$results/mpirun.json" "$@" || code=$?

printf '\n'
if [ "$code" -ne 0 ]; then
  echo "jobs/local.sh: mgsync ended with exit code $code (3: a barrier failed, 4: nothing ran here; see above)"
  exit "$code"
fi
echo "jobs/local.sh: done; the results are in $results/one-process.json and $results/mpirun.json"
