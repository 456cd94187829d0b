# shellcheck shell=bash
# shellcheck disable=SC2154  # what jobs_test.sh sets, which sources this
# What is true of the scripts: one function each.

one_rank_per_gpu() {
  submit dgx-one-rank-per-gpu.sbatch "${small[@]}" -- "${quick[@]}"
  ends_with 0 60 "one rank per GPU"
  expect_text '^\+ srun --mpi='"$manager"' --gpu-bind=none --cpu-bind=cores --cpus-per-task=1 ' "$out"
  expect_text ' 2 task\(s\), [24] GPU\(s\) and 4 CPU\(s\) per node' "$out"
  expect_row mpi:default pass "$out"
  valid_json "$(result mgsync-ranks json)" results 0 metrics latency median
  tail -n 1 "$(result mgsync-ranks jsonl)" | grep -q '"complete"' || fail "the store is not complete"
  passed "one rank per GPU, by srun --mpi=$manager"
}

ranks_by_mpirun() { # what else is on the sbatch command line
  submit dgx-one-rank-per-gpu.sbatch "${small[@]}" "$@" -- "${quick[@]}"
  ends_with 0 60 "ranks by mpirun"
  expect_text '^\+ mpirun -np 2 --map-by ppr:2:node' "$out"
  expect_row mpi:default pass "$out"
  passed "ranks by mpirun inside the allocation"
}

one_process_without_gpus() {
  submit dgx-one-process.sbatch --nodelist=n3 --gpus-per-node=0 -- "${quick[@]}" --verbose
  ends_with 0 60 "one process"
  expect_text ' 0 GPU\(s\)' "$out"
  expect_text '^waived +mpi:default ' "$out"
  expect_row 'multigrid:[a-z]+' pass "$out"
  valid_json "$(result mgsync-process json)" results 0 metrics latency median
  passed "one process on a node without GPUs"
}

several_nodes() {
  submit multi-node.sbatch --nodes=2 --ntasks-per-node=2 --gpus-per-node=2 --cpus-per-task=1 -- --oversubscribe \
    --backend 'mpi,nodes,multigrid' --max-time 300ms --check-rounds 200 --verbose
  ends_with 0 60 "two nodes"
  local across within
  across=$MGSYNC_RESULTS/mgsync-nodes-$job-on-n_1-2_.json
  within=$MGSYNC_RESULTS/mgsync-nodes-$job-on-n_1-2_-per-node.json
  expect_row mpi:default pass "$out"
  expect_row nodes:auto pass "$out"
  expect_text '(leader|rail) over 2 nodes' "$across"
  expect_text '"hosts": \["n1", "n2"\]' "$across"
  expect_text '^waived +multigrid:auto .*several hosts' "$out"
  expect_text '^multigrid:auto +n1 ' "$out"
  expect_text '^multigrid:auto +n2 ' "$out"
  expect_text '"node": "n1"' "$within"
  expect_text '"node": "n2"' "$within"
  passed "two nodes: mpi and nodes across them, multigrid on each"
}

array_in_parts() {
  submit sweep-array.sbatch "${single[@]}" -- "${quick[@]}" --max-time 300ms
  told_the_end "$job" 90
  local task placement
  for task in 0 1 2; do
    grep -q '"complete"' "$MGSYNC_RESULTS/mgsync-sweep-$job-task$task"-*.jsonl || fail "part $task is not complete"
  done
  expect_code "$(exit_of "$job")" 0 "the array"
  for placement in near far spread; do
    expect_text "\"placement\": \"$placement\"" "$MGSYNC_RESULTS/mgsync-sweep-$job.json"
  done
  valid_json "$MGSYNC_RESULTS/mgsync-sweep-$job.json" settings merged_3
  [ "$(grep -c '"status": "measured"' "$MGSYNC_RESULTS/mgsync-sweep-$job.json")" -eq 6 ] ||
    fail "not every point of the three parts is in the merged file"
  passed "an array of three parts, merged"

  job=$(sbatch --parsable --array=7 "${single[@]}" --output="$work/job-%A_%a.txt" "$MGSYNC_HOME/jobs/sweep-array.sbatch")
  out=$work/job-${job}_7.txt
  ends_with 1 30 "a task beyond the parts"
  expect_text 'task 7 has no line in parts: sbatch --array=0-2' "$out"
  passed "an array that is too long says so"
}

acceptance() {
  local options=(--device host --within 20s)
  export MGSYNC_BASELINE=$work/baseline.json MGSYNC_REFERENCE=$work/no-such-kind
  mkdir "$MGSYNC_REFERENCE"
  # The baselines are of nodes whose rounds take a second, or a nanosecond; the last one is of another machine. A long
  # acceptance has many points.
  "$mgsync" --device host --members 2 --oversubscribe --backend openmp --check-rounds 200 --json "$MGSYNC_BASELINE" >/dev/null 2>&1
  "$mgsync" --device host --members 2 --oversubscribe --backend 'openmp:*,multigrid:*,peers:*' --check-rounds 200 --max-time 20ms \
    --json "$work/many.json" >/dev/null 2>&1
  python3 - "$MGSYNC_BASELINE" "$work/slow.json" "$work/fast.json" "$work/other.json" "$work/many.json" <<'PYTHON' || fail "the baselines cannot be made"
import json, sys
def write(name, latency_us, document):
    for one in document["results"]:
        one["doubts"] = []
        one["axes"].pop("oversubscribed", None)
        for latency in one["metrics"].values():
            latency["raw"] = [latency_us] * 7
            latency["median"] = latency_us
    json.dump(document, open(name, "w"), indent=1)
document = json.load(open(sys.argv[1]))
write(sys.argv[2], 1e6, document)
write(sys.argv[3], 1e-3, document)
document["machine"]["cpu_model"] = "another CPU"
write(sys.argv[4], 1e-3, document)
write(sys.argv[5], 1e6, json.load(open(sys.argv[5])))
PYTHON
  cp "$work/other.json" "$MGSYNC_REFERENCE"
  submit accept-node.sbatch "${single[@]}" --export=ALL,MGSYNC_BASELINE="$work/nowhere.json" -- "${options[@]}"
  ends_with 1 60 "acceptance without a baseline"
  expect_text 'UNKNOWN: no baseline .*there is no reference of the kind of machine .*MGSYNC_BASELINE=FILE,FILE,FILE' "$out"
  submit accept-node.sbatch "${single[@]}" --export=ALL,MGSYNC_BASELINE="$work/slow.json" -- "${options[@]}"
  ends_with 0 120 "acceptance of the node itself"
  expect_text '^Machine |^Host |cores' "$out"
  expect_text '^This node is normal: 1 point' "$out"
  expect_text '^mgsync-accept: PASS: n[123]' "$out"
  submit accept-node.sbatch "${single[@]}" --export=ALL,MGSYNC_BASELINE="$work/fast.json" -- "${options[@]}"
  told_the_end "$job" 120
  if grep -q 'cannot be told: .* is beyond its limit' "$out"; then  # this machine is busy beside the test
    expect_code "$(exit_of "$job")" 4 "acceptance of a slow node that is busy"
    expect_text '^mgsync-accept: UNKNOWN: n[123]' "$out"
    expect_text 'exit code 4 \(.* 4: nothing could be measured or judged' "$out"
  else
    expect_code "$(exit_of "$job")" 5 "acceptance of a slow node"
    expect_text '^This node is not normal: slow: all 2 host members .*Look further: mgsync --device host --members 2 --backend openmp:runtime' "$out"
    expect_text '"verdict":"slow"' "$MGSYNC_RESULTS/nodes.jsonl"
    expect_text '^mgsync-accept: FAIL: n[123]' "$out"
    expect_text 'exit code 5 \(.* 5: slower than may be, or not normal' "$out"
  fi
  submit accept-node.sbatch "${single[@]}" --export=ALL,MGSYNC_BASELINE="$work/other.json" -- "${options[@]}"
  ends_with 2 60 "acceptance by a baseline of another machine"
  expect_text 'the CPU is .*, was another CPU|was another CPU' "$out"
  expect_text '^mgsync-accept: UNKNOWN: n[123]' "$out"
  # It has no store: nothing is written of one that was ended early.
  submit accept-node.sbatch "${single[@]}" --export=ALL,MGSYNC_BASELINE="$work/many.json" -- --device host --within 60s
  wait_until "$long_s" grep -qs '^[0-9]* of [0-9]* points can run here' "$out" || fail "the acceptance does not begin within $long_s s"
  scancel --signal=USR1 --batch "$job"
  ends_with 138 60 "an acceptance that is warned of the time limit"
  expect_text 'ended early, nothing is written; scontrol requeue [0-9]+ begins again' "$out"
  if grep -q 'what was measured is written' "$out"; then fail "an acceptance says that a requeue goes on"; fi
  # What drains, on this machine and not as root's: a scontrol that writes down what it is asked.
  export MGSYNC_SETTINGS=$work/no-settings
  mkdir "$work/bin"
  printf '#!/bin/sh\necho "$@" >>"%s"\n' "$work/drained" >"$work/bin/scontrol"
  for told in 3 5; do
    printf '#!/bin/sh\necho "This node is not normal: slow: GPU 3"\nexit %d\n' "$told" >"$work/bin/slow"
    chmod +x "$work/bin/scontrol" "$work/bin/slow"
    PATH=$work/bin:$PATH MGSYNC_BASELINE=$work/fast.json SLURMD_NODENAME=n9 MGSYNC=$work/bin/slow "$MGSYNC_HOME/jobs/accept-drain.sh" "${options[@]}" >"$work/out"
    expect_code $? "$told" "draining a slow or broken node"
    expect_text '^update NodeName=n9 State=DRAIN Reason=mgsync: This node is not normal: slow' "$work/drained"
    rm "$work/drained"
  done
  PATH=$work/bin:$PATH MGSYNC_BASELINE=$work/slow.json MGSYNC=$mgsync "$MGSYNC_HOME/jobs/accept-drain.sh" "${options[@]}" >"$work/out"
  expect_code $? 0 "draining no normal node"
  [ ! -e "$work/drained" ] || fail "a normal node is drained"
  PATH=$work/bin:$PATH MGSYNC_BASELINE=$work/other.json MGSYNC=$mgsync "$MGSYNC_HOME/jobs/accept-drain.sh" "${options[@]}" >"$work/out" 2>&1
  expect_code $? 0 "an epilog that cannot tell, and must not fail"
  [ ! -e "$work/drained" ] || fail "a node without a baseline of its kind is drained"
  unset MGSYNC_BASELINE MGSYNC_REFERENCE
  MGSYNC=$mgsync "$MGSYNC_HOME/jobs/accept-prolog.sh" || fail "a node without GPUs stops a job"
  unset MGSYNC_SETTINGS
  passed "acceptance: no baseline, passed, failed, another machine, drained"
}

no_container() {
  submit container.sbatch "${single[@]}" --
  ends_with 1 30 "a container without pyxis"
  expect_text 'this Slurm has no pyxis .*submit dgx-one-process.sbatch instead' "$out"
  passed "without pyxis the container script says so (with it, it was not run)"
}

wrong_use() {
  submit dgx-one-process.sbatch "${single[@]}" --export=ALL,MGSYNC=/nowhere/mgsync --
  ends_with 1 30 "no mgsync"
  expect_text 'there is no mgsync at /nowhere/mgsync\. +Build it' "$out"
  submit dgx-one-process.sbatch "${single[@]}" --export=ALL,MGSYNC_HOME="$work" --
  ends_with 1 30 "from another folder"
  expect_text "is not mgsync's folder: submit from there, or set MGSYNC_HOME to it" "$out"
  submit dgx-one-rank-per-gpu.sbatch "${small[@]}" --export=ALL,MGSYNC_LAUNCH=rsh --
  ends_with 1 30 "an unknown launcher"
  expect_text "MGSYNC_LAUNCH is 'rsh'; accepted: pmix, pmi2, mpirun" "$out"
  submit dgx-one-rank-per-gpu.sbatch "${small[@]}" -- --bakend mpi
  ends_with 2 30 "a wrong option"
  expect_text 'did you mean --backend' "$out"
  bash "$MGSYNC_HOME/jobs/dgx-one-process.sbatch" >"$work/out" 2>"$work/err"
  expect_code $? 1 "a job script without a job"
  expect_text 'this is a job script: sbatch' "$work/err"
  passed "wrong use is answered with a sentence"
}

gpus_per_task() {
  srun --nodes=1 --ntasks=2 --gpus-per-task=1 --mpi="$manager" "$mgsync" topology >"$work/out" 2>"$work/err"
  expect_code $? 0 "topology of GPUs per task"
  expect_text 'gpus-per-task' "$work/out"
  expect_text 'per_task:1 on rank 0 on n[123]' "$work/out"
  srun --nodes=1 --ntasks=2 --gpus-per-task=1 --mpi="$manager" "$mgsync" "${quick[@]}" >"$work/out" 2>"$work/err"
  expect_text '^note: Slurm gave the GPUs per task .*ask for GPUs per node, not per task: --gpus-per-node' "$work/err"
  srun --nodes=1 --ntasks=2 --gpus-per-node=2 --gpu-bind=none --mpi="$manager" "$mgsync" topology >"$work/out" 2>"$work/err"
  if grep -q 'gpus-per-task' "$work/out"; then fail "GPUs per node are blamed for being per task"; fi
  passed "GPUs per task are a finding, and a note when measuring"
}

# Each would measure by itself, and write over the other's files.
no_process_manager() {
  local how
  for how in '' --dry-run; do
    srun --nodes=1 --ntasks=2 --mpi=none "$mgsync" "${quick[@]}" $how --json "$work/json" >"$work/out" 2>"$work/err"
    expect_code $? 2 "srun --mpi=none with two tasks"
    [ "$(grep -c 'srun started 2 processes and told none of them' "$work/err")" -eq 1 ] || fail "not said once"
    [ ! -e "$work/json" ] || fail "a document was written"
  done
  srun --nodes=1 --ntasks=1 --mpi=none "$mgsync" "${quick[@]}" >"$work/out" 2>"$work/err"
  expect_code $? 0 "srun --mpi=none with one task"
  passed "two tasks without a process manager are refused, one is not"
}

# Nothing lost, nothing twice: what the store held when the job was stopped is still there; a point that was finished
# then has no sample more; every point has one result; no batch was continued.
check_store() { # STORE BEFORE
  python3 - "$1" "$2" <<'PYTHON' || fail "the store is not whole"
import json, sys
whole, before = (open(name).read().splitlines() for name in sys.argv[1:3])
assert whole[:len(before)] == before, "what was measured before is not there any more"
lines = [json.loads(line) for line in whole]
starts = [0] + [i for i, line in enumerate(lines) if line["t"] == "resumed"] + [len(lines)]
assert len(starts) > 2, "nothing was resumed"
finished, batches = set(), set()
for begin, end in zip(starts, starts[1:]):
    here = set()
    done_before = set(finished)
    for line in lines[begin:end]:
        if line["t"] == "sample":
            assert line["key"] not in done_before, "a finished point was measured again"
            assert (line["key"], line["batch"]) not in batches, "a batch of an earlier start was continued"
            here.add((line["key"], line["batch"]))
        if line["t"] == "result":
            assert line["key"] not in finished, "a point has two results"
            finished.add(line["key"])
    batches |= here
points = {line["key"] for line in lines if line["t"] == "point"}
assert finished >= points, "points without a result"
assert lines[-1]["t"] == "end" and lines[-1]["why"] == "complete", "not complete"
print(f"{len(finished)} points, {sum(line['t'] == 'sample' for line in lines)} samples, {len(starts) - 1} starts")
PYTHON
}

# Whichever of the points was measured first: they take turns.
has_a_latency() { # FILE
  valid_json "$1" results 0
  grep -q '"latency": {' "$1" || fail "$1 has no latency"
}

requeued() { # LAUNCHER HOW: cancel, or requeue while it runs
  local store before=$work/before
  submit dgx-one-rank-per-gpu.sbatch "${small[@]}" --nodelist=n1 --export=ALL,MGSYNC_LAUNCH="$1" -- "${slow[@]}"
  wait_until "$long_s" has_a_result || fail "no first result within $long_s s"
  if [ "$2" = cancel ]; then
    scancel "$job"
    told_the_end "$job" 20
    expect_text 'CANCELLED' <(state_of "$job")
    has_a_latency "$(result mgsync-ranks json)"
    tail -n 1 "$(result mgsync-ranks jsonl)" | grep -q '"why":"interrupted","reason":"[^"]*signal 15' || fail "the store does not end with the reason"
    expect_text '"ended_because": "[^"]*signal 15' "$(result mgsync-ranks json)"
  fi
  scontrol requeue "$job" || fail "Slurm does not requeue job $job"
  wait_until "$long_s" not_running || fail "job $job goes on running"
  store=$(result mgsync-ranks jsonl)
  cp "$store" "$before"
  [ "$(samples "$before")" -gt 0 ] || fail "nothing was measured before"
  # Slurm would wait until old credentials have ended. Two seconds tell them apart: those made in the second in which the old
  # ones were revoked are taken for revoked. Until the job has begun again, its state may be that of its first end.
  scontrol update JobId="$job" StartTime=now+2 2>/dev/null
  wait_until "$long_s" grep -q ', start 2$' "$out" || { cp "$out" "$work/out"; fail "job $job is $(state_of "$job")after its requeue"; }
  ends_with 0 120 "the job that was started again"
  check_store "$store" "$before"
  passed "$2 and requeue under $1: nothing lost, nothing twice"
}
cancelled() { # by name, on the command line of jobs_test.sh
  requeued "$manager" cancel
  requeued mpirun cancel
}
not_running() { ended "$job" || [ "$(state_of "$job")" = 'PENDING ' ]; }

warned() { # LAUNCHER SCANCEL-OPTIONS...: as the controller does it before the time limit, now
  local launcher=$1
  shift
  submit dgx-one-rank-per-gpu.sbatch "${small[@]}" --export=ALL,MGSYNC_LAUNCH="$launcher" -- "${slow[@]}"
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
  scancel --signal=USR1 "$@" "$job"
  ends_with 138 20 "after the warning ($launcher $*)"
  written_early
  passed "a warning to the $([ $# -gt 0 ] && echo shell || echo steps) reaches the ranks under $launcher"
}
warned_on_two_nodes() { # by mpirun, whose daemons on other nodes are Slurm steps: the warning must not end them first
  submit multi-node.sbatch --nodes=2 --ntasks-per-node=1 --gpus-per-node=2 --cpus-per-task=1 \
    --export=ALL,MGSYNC_LAUNCH=mpirun -- --oversubscribe --members 2 --backend mpi --max-time 20s --precision 0.0001
  wait_until "$long_s" has_samples || fail "no sample within $long_s s"
  scancel --signal=USR1 --batch "$job"
  ends_with 138 20 "after the warning on two nodes"
  expect_text 'ended early, what was measured is written' "$out"
  valid_json "$(result mgsync-nodes json)" results 0
  passed "a warning reaches the ranks on two nodes under mpirun"
}
written_early() {
  has_a_latency "$(result mgsync-ranks json)"
  expect_text '"stopped": "interrupted"' "$(result mgsync-ranks json)"
  tail -n 1 "$(result mgsync-ranks jsonl)" | grep -q '"interrupted"' || fail "the store does not say that it was interrupted"
  expect_text 'ended early, what was measured is written' "$out"
}

# The time limit itself: two minutes, so that the warning comes at one of the controller's looks, 30 s to a minute after the
# start. Of one minute it may come at once, before anything is measured.
begin_time_limit() {
  submit dgx-one-rank-per-gpu.sbatch "${small[@]}" --gpus-per-node=0 --nodelist=n3 --time=2 -- "${slow[@]}" --max-time 60s
  limited=$job
}
end_time_limit() {
  job=$limited
  out=$work/job-${job}_4294967294.txt
  ends_with 138 75 "at the time limit"
  written_early
  passed "--signal before the time limit: exit 138, everything written"
}

# No job, no process of a job. Slurm completes a job some time after its end.
no_job_left() { [ -z "$(squeue -h)" ]; }
no_process_left() { ! pgrep -x mgsync >/dev/null; }
expect_nothing_left() {
  wait_until "$long_s" no_job_left || fail "jobs are left: $(squeue -h)"
  wait_until "$long_s" no_process_left || fail "processes are left: $(pgrep -ax mgsync)"
}

cases() {
  begin_time_limit
  requeued "$manager" cancel
  requeued "$manager" requeue
  warned "$manager" --batch
  warned "$manager"
  end_time_limit
  one_rank_per_gpu
  if [ "$manager" = pmix ]; then
    ranks_by_mpirun --export=ALL,MGSYNC_LAUNCH=mpirun
    warned mpirun --batch
    warned_on_two_nodes
    requeued mpirun cancel
  fi
  one_process_without_gpus
  several_nodes
  array_in_parts
  acceptance
  no_container
  wrong_use
  gpus_per_task
  no_process_manager
}

cases_without_pmix() {
  if [ "$manager" != pmix ]; then return; fi # this MPI's ranks do not need it
  if srun --mpi=list 2>&1 | grep -q pmix; then fail "this cluster was to have no PMIx"; fi
  ranks_by_mpirun
}
