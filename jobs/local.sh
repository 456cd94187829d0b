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

# One rank per GPU, else up to four ranks; with one GPU the ranks are host members.
where=()
ranks=$(nproc)
ranks=$((ranks > 4 ? 4 : ranks))
if [ "$preset" = gpu ]; then
  gpus=$(nvidia-smi -L | grep -c '^GPU')
  if [ "$gpus" -ge 2 ]; then ranks=$gpus; else where=(--device host); fi
fi
spare=()
if [ "$ranks" -lt 2 ]; then
  ranks=2
  spare=(--oversubscribe)
fi

printf '\n== one process\n'
code=0
"$mgsync" "${spare[@]}" --json "$results/one-process.json" "$@" || code=$?
printf '\n== %d ranks\n' "$ranks"
mpirun -np "$ranks" "${spare[@]}" "$mgsync" "${spare[@]}" "${where[@]}" --json "$results/mpirun.json" "$@" || code=$?

printf '\n'
if [ "$code" -ne 0 ]; then
  echo "jobs/local.sh: mgsync ended with exit code $code (3: a barrier failed, 4: nothing ran here; see above)"
  exit "$code"
fi
echo "jobs/local.sh: done; the results are in $results/one-process.json and $results/mpirun.json"
