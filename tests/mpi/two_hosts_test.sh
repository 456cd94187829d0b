#!/bin/bash
# two_hosts_test.sh MGSYNC LYING_MPI: members on two hosts (pretended: private host names on this machine): what needs
# shared memory is waived with the reason; MPI_Barrier is measured, and checked between the hosts.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/expect.sh"
mgsync=$1
library=$2
unshare --uts true 2>/dev/null || skip "private host names need root (unshare --uts)"
grep -q 'Open MPI\|OpenRTE' <<<"$("$MPIRUN" --version 2>/dev/null)" || skip "the pretended hosts are made for Open MPI's mpirun"

# Instead of ssh: HOST COMMAND..., with a host name of its own.
cat >"$work/agent" <<'AGENT'
#!/bin/bash
while [[ "${1:-}" == -* ]]; do shift; done
host=$1
shift
exec unshare --uts bash -c 'hostname "$0"; eval "$@"' "n-${host//./-}" "$@"
AGENT
chmod +x "$work/agent"
printf '127.0.0.11 slots=2\n127.0.0.12 slots=2\n' >"$work/hosts"

export OMPI_MCA_btl=self,vader,tcp
on_two_hosts() { # RANKS MPIRUN-OPTIONS... -- MGSYNC-OPTIONS...
  local ranks=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  timeout -k 5 "$long_s" "$MPIRUN" -np "$ranks" "${options[@]}" --hostfile "$work/hosts" \
    --mca plm rsh --mca plm_rsh_agent "$work/agent" --mca oob_tcp_if_include lo --mca btl_tcp_if_include lo \
    "$mgsync" --device host --oversubscribe --max-time 300ms --check-rounds 500 --verbose "$@" >"$work/out" 2>"$work/err"
}
on_two_hosts 4 -- --backend 'multigrid,peer-reduction,mpi,openmp' --members 4 --json "$work/json"
expect_code $? 0 "two hosts"
expect_text '^waived +multigrid:auto .*several hosts' "$work/out"
expect_text '^waived +peer-reduction:push .*several hosts' "$work/out"
expect_text '^waived +openmp:runtime ' "$work/out"
expect_row mpi:default pass "$work/out"
expect_text '"hosts": \["n-127-0-0-11", "n-127-0-0-12"\]' "$work/json"

on_two_hosts 4 -- --backend multigrid,mpi --members 2 --per-node --json "$work/json"
expect_code $? 0 "each node by itself"
for node in n-127-0-0-11 n-127-0-0-12; do
  expect_text "^multigrid:auto +$node " "$work/out"
  expect_text "^mpi:default +$node " "$work/out"
  expect_row mpi:default pass "$work/out"
done
passed "two hosts"

# Each host has one member, or two.
on_two_hosts 2 --map-by node -- --backend mpi --members 2 --json "$work/json"
expect_code $? 0 "one member on each host"
expect_row mpi:default pass "$work/out"
expect_text '"control_flagged": true' "$work/json"
for ranks in 2 4; do
  on_two_hosts "$ranks" --map-by node -x LD_PRELOAD="$library" -x MGSYNC_LIE=near -- --backend mpi --members "$ranks" \
    --json "$work/json"
  expect_code $? 3 "barriers of one host each, $ranks members"
  expect_text 'not a barrier: .* \(rank [0-3] on n-127-0-0-1[12]\) left before member [0-3] .*had arrived' "$work/err"
  ! grep -qw pass "$work/out" || fail "the table says pass"
done
passed "a barrier that leaves another host out is caught"

# Two hosts of one name: what tells them apart is the boot, here one of its own under rank 1.
if unshare --mount true 2>/dev/null; then
  echo 11111111-2222-3333-4444-555555555555 >"$work/boot"
  cat >"$work/same-name" <<'RANK'
#!/bin/bash
boot=$1
shift
[ "$OMPI_COMM_WORLD_RANK" -eq 1 ] || exec "$@"
exec unshare --mount bash -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$boot" "$@"
RANK
  chmod +x "$work/same-name"
  timeout -k 5 80 "$MPIRUN" -np 2 "$work/same-name" "$work/boot" "$mgsync" --device host --oversubscribe --max-time 300ms \
    --check-rounds 500 --verbose --backend multigrid,mpi --members 2 --json "$work/json" >"$work/out" 2>"$work/err"
  expect_code $? 0 "two hosts of one name"
  expect_text '^waived +multigrid:auto .*several hosts' "$work/out"
  expect_row mpi:default pass "$work/out"
  expect_text "\"hosts\": \[\"$(hostname)\", \"$(hostname)-2\"\]" "$work/json"
  passed "two hosts of one name are two"
fi
