#!/bin/bash
# jobs_test.sh MGSYNC [CASE...]: every script of jobs/, submitted to a real Slurm (slurm_box.sh) as its user would,
# with sizes for this machine on the sbatch command line. Exit code 77: no Slurm can be started here, a sentence says
# why; with MGSYNC_REQUIRE_SLURM=1 that is a failure.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mgsync=$(realpath "$1")
shift
if [ "${MGSYNC_IN_SLURM_BOX:-}" != yes ]; then
  # A second cluster has no PMIx: the scripts have to find another way to start ranks.
  setups=(plain no-pmix)
  if [ $# -gt 0 ]; then setups=(plain); fi
  for setup in "${setups[@]}"; do
    timeout -k 5 1200 "$here/slurm_box.sh" 3 "$setup" "$here/jobs_test.sh" "$mgsync" "$setup" "$@"
    code=$?
    if [ "$code" -eq 77 ] && [ "${MGSYNC_REQUIRE_SLURM:-0}" = 1 ]; then
      echo "FAIL: MGSYNC_REQUIRE_SLURM is set, so this is no skip"
      exit 1
    fi
    [ "$code" -eq 0 ] || exit "$code"
  done
  exit 0
fi

# shellcheck source=tests/mpi/expect.sh
. "$here/../mpi/expect.sh"
MGSYNC_HOME=$(cd "$here/../.." && pwd)
export MGSYNC_HOME MGSYNC=$mgsync MGSYNC_RESULTS=$work/results
# Open MPI on fewer cores than the nodes claim.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo ASAN_OPTIONS=detect_leaks=0
# What starts ranks of this MPI: MPICH's know Slurm's PMI-2, Open MPI's its PMIx or its own mpirun.
manager=pmix
case $("$mgsync" --version) in *'MPI MPICH'*) manager=pmi2 ;; esac
cd "$work" || exit 1
small=(--nodes=1 --ntasks-per-node=2 --gpus-per-node=2 --cpus-per-task=1)
single=(--nodes=1 --ntasks-per-node=1 --gpus-per-node=2)
quick=(--oversubscribe --members 2 --backend 'multigrid,mpi,openmp' --max-time 200ms --check-rounds 200)
slow=(--oversubscribe --members '1,2' --backend 'multigrid:inbox,multigrid:hub,multigrid:central' --max-time 1s
  --precision 0.0001 --check-rounds 200)

# submit SCRIPT [SBATCH-OPTIONS] -- [MGSYNC-OPTIONS]: sets job, and out, the file of what it prints
submit() {
  local script=$1 options=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  job=$(sbatch --parsable --output="$work/job-%A_%a.txt" "${options[@]}" "$MGSYNC_HOME/jobs/$script" "$@" 2>"$work/err") ||
    fail "sbatch $script: $(cat "$work/err")"
  out=$work/job-${job}_4294967294.txt # %a of a job that is no array
}
state_of() { scontrol show job -o "$1" 2>/dev/null | grep -o 'JobState=[A-Z]*' | cut -d= -f2 | sort -u | tr '\n' ' '; }
# Slurm may not answer, and while it sends a signal the state is SIGNALING: neither is an end.
ended() { [[ $(state_of "$1") =~ ^((COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY)\ )+$ ]]; }
# told_the_end JOB SECONDS: seconds on an idle machine; a busy one gets several times as many.
told_the_end() {
  wait_until $(($2 * 5)) ended "$1" || { cat "$work"/job-"$1"_*.txt >&2; fail "job $1 did not end within $(($2 * 5)) s"; }
}
# The exit code of the script, as Slurm has it.
exit_of() { scontrol show job -o "$1" | grep -o ' ExitCode=[0-9]*' | head -n 1 | cut -d= -f2; }
# ends_with CODE SECONDS WHAT
ends_with() {
  told_the_end "$job" "$2"
  cp "$out" "$work/out" 2>/dev/null
  expect_code "$(exit_of "$job")" "$1" "$3"
}
result() { echo "$MGSYNC_RESULTS"/"$1"-"$job"*."$2"; } # NAME ENDING
samples() { grep -c '"t":"sample"' "$1" 2>/dev/null; }
has_samples() { grep -qs '"t":"sample"' "$MGSYNC_RESULTS"/*-"$job"*.jsonl; }
has_a_result() { grep -qs '"t":"result"' "$MGSYNC_RESULTS"/*-"$job"*.jsonl && has_samples_after_it; }
has_samples_after_it() { sed '1,/"t":"result"/d' "$MGSYNC_RESULTS"/*-"$job"*.jsonl | grep -q '"t":"sample"'; }

# shellcheck source=tests/jobs/cases.sh
. "$here/cases.sh"
setup=$1
shift
if [ $# -gt 0 ]; then
  for one in "$@"; do "$one"; done
elif [ "$setup" = no-pmix ]; then
  cases_without_pmix
else
  cases
fi
expect_nothing_left
