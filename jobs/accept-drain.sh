#!/bin/bash
# Accepts this node, and drains it where it is not normal; for an epilog, a timer, or a health check (slurm.conf:
# HealthCheckProgram, HealthCheckNodeState=IDLE, HealthCheckInterval=3600). As root, or as a Slurm operator:
#   MGSYNC_BASELINE=FILE,... jobs/accept-drain.sh [options of mgsync accept]
# Slurm gives it no options, and no environment of yours: what /etc/mgsync.conf sets (MGSYNC_SETTINGS: another file) is for it and
# for mgsync: MGSYNC, MGSYNC_BASELINE, MGSYNC_REFERENCE, PATH, MGSYNC_WITHIN (of --within), MGSYNC_LIMIT (seconds in all: 300).
# Slurm ends a health check after 60 s: that has 50 s, --within 30s. PrologEpilogTimeout, by default none, must exceed an epilog's.
# Exit code: 3 (broken) or 5 (slow, or something is wrong) of a node that was drained, otherwise 0, as Slurm drains each node whose
# epilog fails: what cannot be told, or has no baseline, drains nothing.
unset CUDA_VISIBLE_DEVICES # Slurm shows an epilog the job's GPUs
settings=${MGSYNC_SETTINGS:-/etc/mgsync.conf}
set -a
# shellcheck source=/dev/null
[ ! -r "$settings" ] || . "$settings"
export PATH="$PATH:/opt/slurm/bin" # Slurm sets none
set +a
MGSYNC=${MGSYNC:-/usr/bin/mgsync}
node=${SLURMD_NODENAME:-$(hostname -s)}
limit=300 within=''
# Slurm tells a health check alone the node and no job.
if [ -n "${SLURMD_NODENAME:-}" ] && [ -z "${SLURM_JOB_ID:-}" ]; then limit=50 within=30s; fi
within=${MGSYNC_WITHIN:-$within}
against=(--reference)
[ -z "${MGSYNC_BASELINE:-}" ] || against=(--against "$MGSYNC_BASELINE")
# A file, not the pipe: Slurm waits for all who have that, such as a process that is stuck in the driver.
why=$(mktemp) || why=/dev/null
# In the foreground it stays in the process group that Slurm ends.
said=$(timeout --foreground -k 5 "${MGSYNC_LIMIT:-$limit}" "$MGSYNC" accept "${against[@]}" ${within:+--within "$within"} "$@" 2>"$why")
code=$?
echo "$node: ${said:-cannot be told (exit code $code): $(head -n 1 "$why")}"
[ "$why" = /dev/null ] || rm -f "$why"
case $code in
  3 | 5) scontrol update "NodeName=$node" State=DRAIN "Reason=mgsync: ${said:0:200}" ;;
  *) code=0 ;;
esac
exit "$code"
