#!/bin/bash
# A Slurm prolog (slurm.conf: Prolog=/etc/slurm/accept-prolog.sh) for nodes that jobs get whole: looks at the node before each
# job, which takes a second and measures nothing. Exit code 0: all is well. Otherwise Slurm drains the node and requeues the job, held
# unless slurm.conf has SchedulerParameters=nohold_on_prolog_fail. MGSYNC is the program; what cannot be told, as on a node without a
# reference, stops no job.
MGSYNC=${MGSYNC:-/usr/bin/mgsync}
[ -x "$MGSYNC" ] || exit 0
said=$(timeout 30 "$MGSYNC" accept --dry-run 2>&1)
[ $? -eq 5 ] || exit 0
logger -t mgsync -- "$said" 2>/dev/null
echo "print $said"
exit 1
