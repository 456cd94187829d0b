#!/bin/bash
# Accepts this node, and drains it where it is not normal; for an epilog, a timer, or a health check (slurm.conf:
# HealthCheckProgram, HealthCheckNodeState=IDLE; Slurm ends that after 60 s, which 8 GPUs may take). As root, or as a Slurm operator:
#   MGSYNC_BASELINE=FILE,... jobs/accept-drain.sh [options of mgsync accept]
# Exit code: 3 (broken) or 5 (slow, or something is wrong) of a node that was drained, otherwise 0, as Slurm drains each node whose
# epilog fails: what cannot be told, or has no baseline, drains nothing.
MGSYNC=${MGSYNC:-/usr/bin/mgsync}
node=${SLURMD_NODENAME:-$(hostname -s)}
against=(--reference)
[ -z "${MGSYNC_BASELINE:-}" ] || against=(--against "$MGSYNC_BASELINE")
said=$(timeout 300 "$MGSYNC" accept "${against[@]}" "$@")
code=$?
echo "$node: $said"
case $code in
  3 | 5) scontrol update "NodeName=$node" State=DRAIN "Reason=mgsync: ${said:0:200}" ;;
  *) code=0 ;;
esac
exit "$code"
