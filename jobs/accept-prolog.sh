#!/bin/bash
# A Slurm prolog (slurm.conf: Prolog=/etc/slurm/accept-prolog.sh) for nodes that jobs get whole: looks at the node before each
# job, which takes a second and measures nothing. Exit code 0: all is well. Otherwise Slurm drains the node and requeues the job, held
# unless slurm.conf has SchedulerParameters=nohold_on_prolog_fail. What cannot be told stops no job; without a reference the look is
# at the node alone. MGSYNC is the program; it and MGSYNC_REFERENCE are set in /etc/mgsync.conf, as for accept-drain.sh. A look that
# is stuck is ended after 30 s: PrologEpilogTimeout (PrologTimeout), by default none, must be longer, or Slurm drains the node.
unset CUDA_VISIBLE_DEVICES # Slurm shows a prolog the job's GPUs
settings=${MGSYNC_SETTINGS:-/etc/mgsync.conf}
set -a
# shellcheck source=/dev/null
[ ! -r "$settings" ] || . "$settings"
export PATH # Slurm sets none
set +a
MGSYNC=${MGSYNC:-/usr/bin/mgsync}
[ -x "$MGSYNC" ] || exit 0
# In the foreground it stays in the process group that Slurm ends.
said=$(timeout --foreground -k 5 30 "$MGSYNC" accept --dry-run 2>/dev/null)
[ $? -eq 5 ] || exit 0
logger -t mgsync -- "$said" 2>/dev/null
echo "print $said"
exit 1
