#!/usr/bin/env bash
# Compares the barriers of this machine: installs what is missing, builds, runs mgsync in one process and under
# mpirun. With a CUDA toolkit and a GPU it measures the GPUs. What follows on the command line goes to mgsync.
# MGSYNC_STARTS=6: each of the two in six fresh processes (starts of mpirun), the intervals over them.
set -euo pipefail
cd "$(dirname "$0")/.."

# What is here, in a sentence, before anything that takes time.
export PATH="$PATH:/usr/local/cuda/bin"
preset=host
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
toolkit=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p') || toolkit=''
if [ -n "$toolkit" ] && [ "$gpus" -gt 0 ]; then
  preset=gpu
  found="$gpus GPU(s), a CUDA $toolkit toolkit and $(nproc) CPU(s): the barriers of the GPUs are compared"
elif [ "$gpus" -gt 0 ]; then
  found="$gpus GPU(s) but no CUDA toolkit (nvcc), and $(nproc) CPU(s): the barriers of host threads are compared"
else
  found="no GPU${toolkit:+ (but a CUDA $toolkit toolkit)} and $(nproc) CPU(s): the barriers of host threads are compared"
fi
echo "jobs/local.sh: found $found, with build/$preset/mgsync"

bash jobs/install-packages.sh
echo "building build/$preset/mgsync ..."
bash jobs/build.sh "$preset" --target mgsync
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
  if [ "$gpus" -ge 2 ]; then ranks=$gpus; else where=(--device host); fi
fi
spare=()
if [ "$ranks" -lt 2 ]; then
  ranks=2
  spare=(--oversubscribe)
fi

printf '\n== one process\n'
code=0
starts=${MGSYNC_STARTS:-1}
"$mgsync" "${spare[@]}" --json "$results/one-process.json" --processes "$starts" "$@" || code=$?
printf '\n== %d ranks\n' "$ranks"
if [ "$starts" -eq 1 ]; then
  mpirun -np "$ranks" "${spare[@]}" "$mgsync" "${spare[@]}" "${where[@]}" --json "$results/mpirun.json" "$@" || code=$?
else
  each=()
  for ((start = 1; start <= starts && code == 0; ++start)); do
    each+=("$results/mpirun-$start.json")
    mpirun -np "$ranks" "${spare[@]}" "$mgsync" "${spare[@]}" "${where[@]}" --json "${each[-1]}" "$@" >/dev/null || code=$?
  done
  "$mgsync" merge "${each[@]}" --over-processes --json "$results/mpirun.json" || code=$?
fi

# All of it on one page, whatever came of it.
"$mgsync" topology --format description >"$results/this.machine" || code=$?
there=("$results/this.machine")
for file in "$results/one-process.json" "$results/mpirun.json"; do
  if [ -s "$file" ]; then there+=("$file"); fi
done
"$mgsync" report "${there[@]}" --html "$results/report.html" 2>/dev/null || echo "jobs/local.sh: no report could be written" >&2

printf '\n'
if [ "$code" -ne 0 ]; then
  echo "jobs/local.sh: mgsync ended with exit code $code (3: a barrier failed, 4: nothing ran here; see above)"
  exit "$code"
fi
echo "jobs/local.sh: done; the results are in $results/one-process.json and $results/mpirun.json, on one page in $results/report.html"
