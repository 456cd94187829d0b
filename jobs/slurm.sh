# shellcheck shell=bash
# What the sbatch scripts of this folder share; they source it inside the job. It finds mgsync, names the files of the
# results and says how processes are started. It sets
#   mgsync   the program: $MGSYNC, or what build/ holds, or what is on the PATH
#   stem     the results' files without their ending: named after job and nodes, so that a requeued job finds its store,
#            and does not go on with that of another node
#   one      the command in front of a single process that gets all CPUs and GPUs of a node
#   program  the command that reads results: mgsync, in a container where it is there only
# and with ranks_of_mpi
#   ranks    the command in front of one rank per task
# shellcheck disable=SC2034  # they are for the scripts

die() {
  echo "${SLURM_JOB_NAME:-$0}: $*" >&2
  exit 1
}

[ -n "${SLURM_JOB_ID:-}" ] || die "this is a job script: sbatch $0. On this machine, without Slurm: jobs/local.sh"
trap 'die "warned of the time limit before anything was measured: ask for more with --time"' USR1

find_mgsync() {
  mgsync=${MGSYNC:-}
  if [ -z "$mgsync" ]; then
    for mgsync in "$MGSYNC_HOME/build/gpu/mgsync" "$MGSYNC_HOME/build/host/mgsync" "$(command -v mgsync)"; do
      if [ -x "$mgsync" ]; then break; fi
    done
  fi
  [ -x "$mgsync" ] || die "there is no mgsync at ${MGSYNC:-build/gpu/mgsync or build/host/mgsync in $MGSYNC_HOME}." \
    "Build it (cmake --preset gpu && cmake --build --preset gpu), or name it: sbatch --export=ALL,MGSYNC=FILE"
  version=$("$mgsync" --version 2>&1) || die "$mgsync does not run on $(hostname): $version"
}
# A script that builds the program itself names it.
if [ -n "${built_here:-}" ]; then mgsync=$built_here; else find_mgsync; fi
program=("$mgsync")

: "${MGSYNC_RESULTS:=$MGSYNC_HOME/results}"
mkdir -p "$MGSYNC_RESULTS" || die "$MGSYNC_RESULTS cannot be made: sbatch --export=ALL,MGSYNC_RESULTS=FOLDER"
job=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}${SLURM_ARRAY_TASK_ID:+-task$SLURM_ARRAY_TASK_ID}
stem=$MGSYNC_RESULTS/$SLURM_JOB_NAME-$job-on-${SLURM_JOB_NODELIST//[^[:alnum:].-]/_}

# Since Slurm 22.05 srun does not inherit --cpus-per-task.
tasks_per_node=${SLURM_NTASKS_PER_NODE:-1}
cpus_per_task=${SLURM_CPUS_PER_TASK:-$((SLURM_CPUS_ON_NODE / tasks_per_node))}
[ "$cpus_per_task" -gt 0 ] || die "$tasks_per_node tasks per node, and $SLURM_CPUS_ON_NODE CPUs: ask for fewer tasks"
one=(srun --nodes=1 --ntasks=1 --mpi=none --gpu-bind=none --cpu-bind=cores --cpus-per-task="$SLURM_CPUS_ON_NODE")

echo "$SLURM_JOB_NAME: job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, ${SLURM_NTASKS:-1} task(s)," \
  "${SLURM_GPUS_ON_NODE:-0} GPU(s) and $SLURM_CPUS_ON_NODE CPU(s) per node, start $((${SLURM_RESTART_COUNT:-0} + 1))"
echo "$SLURM_JOB_NAME: $mgsync; results in $stem.*"
case ${SLURM_GPUS_ON_NODE:-0}:${version:-} in
  0:*) ;;
  *$'\nCUDA without'*) echo "$SLURM_JOB_NAME: warning: $mgsync was built without CUDA, so that host threads are measured, and no GPU" ;;
esac

# Asks Slurm whether it can start the ranks of mgsync's MPI; where it cannot, mpirun does, which finds the allocation by
# itself. MGSYNC_LAUNCH=pmix, pmi2 or mpirun decides instead.
ranks_of_mpi() {
  local offered how=${MGSYNC_LAUNCH:-} each
  case $version in
    *$'\nMPI none'*) die "$mgsync was built without MPI: build it with MPI, or submit dgx-one-process.sbatch" ;;
    *$'\nMPI Open MPI'*) each=(pmix) ;; # Open MPI is rarely built with PMI-2: its ranks would not find each other
    *) each=(pmi2 pmix) ;;
  esac
  if [ -z "$how" ]; then
    offered=$(srun --mpi=list 2>&1)
    for how in "${each[@]}" mpirun; do
      if grep -qw "$how" <<<"$offered"; then break; fi
    done
  fi
  case $how in
    pmix | pmi2)
      ranks=(srun --mpi="$how" --gpu-bind=none --cpu-bind=cores --cpus-per-task="$cpus_per_task") ;;
    mpirun)
      command -v mpirun >/dev/null || die "there is no mpirun, and Slurm starts no ranks of this MPI (srun --mpi=list)"
      # Containers and test clusters: Open MPI refuses to start as root unless told twice.
      if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
      ranks=(mpirun -np "$SLURM_NTASKS" --map-by "ppr:$tasks_per_node:node" --bind-to none) ;; # mgsync pins its threads
    *) die "MGSYNC_LAUNCH is '$how'; accepted: pmix, pmi2, mpirun" ;;
  esac
}

# Runs the command and gives back its exit code, whatever signals the shell gets meanwhile. --signal=B:USR1@60 warns
# this shell, and scancel's TERM reaches srun's ranks by itself but not mpirun's. Both launchers pass USR1 on to every
# rank, and mgsync then writes down what it has; on TERM they would kill the ranks.
run() {
  local child='' code signalled='' began
  began=$(date +%s)
  trap 'signalled=yes; kill -USR1 "$child" 2>/dev/null' USR1 TERM
  echo "+ $*"
  "$@" &
  child=$!
  while :; do
    wait "$child"
    code=$?
    [ -n "$signalled" ] || break
    signalled=''
  done
  trap - USR1 TERM
  case $code in
    0) ;;
    138 | 140 | 143)
      if [ -s "$stem.jsonl" ]; then
        echo "$SLURM_JOB_NAME: ended early, what was measured is written; scontrol requeue $SLURM_JOB_ID goes on"
      else
        echo "$SLURM_JOB_NAME: ended early, nothing is written; scontrol requeue $SLURM_JOB_ID begins again"
      fi ;;
    *) echo "$SLURM_JOB_NAME: exit code $code (2: wrong use, 3: a barrier failed, 4: nothing could be measured or judged," \
      "5: slower than may be, or not normal; see above)" ;;
  esac
  # Killed before it could write its document, as mpirun's ranks are by scancel: the store has all of it.
  if [ "$code" -ne 0 ] && [ -s "$stem.jsonl" ] && [ "$(stat -c %Y "$stem.json" 2>/dev/null || echo 0)" -lt "$began" ]; then
    echo "+ mgsync merge $stem.jsonl --json $stem.json"
    "${program[@]}" merge "$stem.jsonl" --json "$stem.json"
  fi
  leave_report
  return "$code"
}

# The results so far as one page beside them.
leave_report() { # with $report_before: what these are set beside
  [ -s "$stem.json" ] || return 0
  local said
  if said=$("${program[@]}" report ${report_before:+"$report_before"} "$stem.json" --html "$stem.html" 2>&1); then
    echo "$SLURM_JOB_NAME: the report is $stem.html"
  else
    echo "$SLURM_JOB_NAME: there is no report: $said"
  fi
  return 0
}
