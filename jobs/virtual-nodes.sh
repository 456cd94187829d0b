#!/bin/bash
# Ranks on virtual nodes of one machine: each node has a host name of its own, and mgsync takes it for a node. MPI goes
# on using shared memory, so what is measured is the cost of the barrier, and no network's.
#   bash jobs/virtual-nodes.sh NODES RANKS COMMAND...     starts NODES x RANKS ranks of the command under mpirun
#   bash jobs/virtual-nodes.sh 2 2 build/host/mgsync --backend nodes,mpi
#   mpirun ... bash jobs/virtual-nodes.sh --rank RANKS COMMAND...   the same around each rank of a job of your own
# Exit code 77, with a sentence, where host names of one's own are not allowed.
set -uo pipefail

# What gives a rank a host name of its own: as root, or in a user namespace.
if unshare --uts true 2>/dev/null; then
  own_name=(unshare --uts)
elif unshare --user --map-root-user --uts true 2>/dev/null; then
  own_name=(unshare --user --map-root-user --uts)
else
  echo "skipped: virtual nodes need host names of their own (unshare --uts), which are not allowed here"
  exit 77
fi

if [ "${1:-}" = --rank ] && [ "$#" -ge 3 ]; then
  rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-}}}}
  [ -n "$rank" ] || { echo "no launcher says which rank this is: start it with mpirun or srun" >&2; exit 2; }
  node=node$((rank / $2))
  shift 2
  # shellcheck disable=SC2016  # expanded by the shell that it starts
  exec "${own_name[@]}" bash -c 'hostname "$0" && exec "$@"' "$node" "$@"
fi
if ! [[ "${1:-}" =~ ^[1-9][0-9]*$ && "${2:-}" =~ ^[1-9][0-9]*$ && "$#" -ge 3 ]]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
nodes=$1 ranks=$2
shift 2
options=()
# More ranks than cores, and ranks that mgsync pins by itself: mpirun knows neither.
if grep -q 'Open MPI\|OpenRTE' <<<"$("${MPIRUN:-mpirun}" --version 2>/dev/null)"; then
  options=(--oversubscribe --bind-to none)
  [ "$(id -u)" -ne 0 ] || options+=(--allow-run-as-root)
fi
exec "${MPIRUN:-mpirun}" -np "$((nodes * ranks))" "${options[@]}" bash "$0" --rank "$ranks" "$@"
