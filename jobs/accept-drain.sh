#!/bin/bash
# Accepts this node, and drains it where it is not normal; for an epilog, a health check (slurm.conf: HealthCheckProgram,
# HealthCheckNodeState=IDLE) or a timer, when no job runs here. As root, or as a Slurm operator:
#   MGSYNC_BASELINE=FILE,... jobs/accept-drain.sh [options of mgsync accept]
# Exit code: mgsync's (docs/exit-codes.md). 3 (broken) and 5 (slow, or something is wrong) drain; 4 (cannot be told) does not.
MGSYNC=${MGSYNC:-/usr/bin/mgsync}
node=${SLURMD_NODENAME:-$(hostname -s)}
against=(--reference)
[ -z "${MGSYNC_BASELINE:-}" ] || against=(--against "$MGSYNC_BASELINE")
said=$(timeout 300 "$MGSYNC" accept "${against[@]}" "$@" 2>/dev/null)
code=$?
echo "$node: $said"
case $code in
  3 | 5) scontrol update "NodeName=$node" State=DRAIN "Reason=mgsync: ${said:0:200}" ;;
esac
exit "$code"
