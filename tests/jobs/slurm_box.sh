#!/bin/bash
# slurm_box.sh NODES SETUP COMMAND...: runs the command inside a Slurm cluster of its own: a real munged, slurmctld
# and one slurmd per node, on loopback, in PID, mount, network, IPC and UTS namespaces of their own, so that nothing
# meets another cluster and everything ends with this process. A node says that it has 4 CPUs and, but for the last
# one, 4 GPUs (character devices, which is all that Slurm looks at); at least 2 nodes. SETUP: as Debian installs it
# (plain), or without Slurm's PMIx (no-pmix). Exit code: the command's; 77: not possible here, a sentence says why.
set -euo pipefail
PATH=$PATH:/usr/sbin

impossible() {
  echo "skipped: $*"
  exit 77
}
if [ "${MGSYNC_IN_SLURM_BOX:-}" != yes ]; then
  for daemon in munged slurmctld slurmd; do
    command -v "$daemon" >/dev/null || impossible "no $daemon here: bash jobs/install-packages.sh slurm installs it"
  done
  [ "$(id -u)" -eq 0 ] || impossible "a Slurm cluster in namespaces needs root"
  own=(--pid --fork --kill-child=KILL --mount-proc --mount --net --ipc --uts)
  unshare "${own[@]}" true 2>/dev/null || impossible "namespaces cannot be made here (unshare)"
  export MGSYNC_IN_SLURM_BOX=yes
  exec setpriv --pdeathsig KILL unshare "${own[@]}" "$0" "$@"
fi

nodes=$1 setup=$2
shift 2
hostname control
ip link set lo up
# getaddrinfo wants one address that is not loopback's.
ip link add box0 type veth peer name box1
ip addr add 10.98.0.1/24 dev box0
ip link set box0 up
ip link set box1 up
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
box=/dev/shm/slurm
mkdir -m 755 "$box" "$box"/{etc,run,log,state,dev}
mkdir -m 700 "$box/munge"
{
  echo "127.0.0.1 localhost control"
  for i in $(seq "$nodes"); do echo "127.0.0.1$i n$i"; done
} >"$box/etc/hosts"
mount --bind "$box/etc/hosts" /etc/hosts
# Regular files would leave CUDA_VISIBLE_DEVICES unset.
for i in 0 1 2 3; do mknod "$box/dev/nvidia$i" c 1 3; done
(umask 077 && head -c 1024 /dev/urandom >"$box/munge/key")
if [ "$setup" = no-pmix ]; then
  : >"$box/nothing"
  for plugin in /usr/lib/*/slurm*/mpi_pmix*.so; do mount --bind "$box/nothing" "$plugin"; done
fi

cat >"$box/etc/slurm.conf" <<CONFIGURATION
ClusterName=mgsync
SlurmctldHost=control(127.0.0.1)
AuthType=auth/munge
# A requeued job waits for this long, since its old credentials must have ended.
AuthInfo=socket=$box/run/munge.sock,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPidFile=$box/run/slurmctld.pid
SlurmdPidFile=$box/run/slurmd-%n.pid
SlurmctldLogFile=$box/log/slurmctld.log
SlurmdLogFile=$box/log/slurmd-%n.log
StateSaveLocation=$box/state
SlurmdSpoolDir=$box/spool-%n
# Two nodes of one machine would make the same folder for PMIx in /tmp.
TmpFS=$box/tmp-%n
ProctrackType=proctrack/linuxproc
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
ReturnToService=2
KillWait=10
# A busy machine answers late, and a job is looked at long after its end.
MessageTimeout=100
MinJobAge=3600
SlurmdParameters=config_overrides
EnforcePartLimits=ALL
GresTypes=gpu
CONFIGURATION
for i in $(seq "$nodes"); do
  gpus='Gres=gpu:4'
  if [ "$i" -eq "$nodes" ]; then gpus=''; fi
  echo "NodeName=n$i NodeHostName=n$i NodeAddr=127.0.0.1$i Port=1682$i CPUs=4 Sockets=1 CoresPerSocket=4" \
    "ThreadsPerCore=1 RealMemory=1000 $gpus State=UNKNOWN"
done >>"$box/etc/slurm.conf"
echo "PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=60 State=UP" >>"$box/etc/slurm.conf"
echo "NodeName=n[1-$((nodes - 1))] Name=gpu File=$box/dev/nvidia[0-3]" >"$box/etc/gres.conf" # a bare Count= is refused
echo "CgroupPlugin=cgroup/v1" >"$box/etc/cgroup.conf"
export SLURM_CONF=$box/etc/slurm.conf TMPDIR=$box/tmp
mkdir "$TMPDIR"

munged --force --foreground --key-file="$box/munge/key" --socket="$box/run/munge.sock" --pid-file="$box/munge/pid" \
  --log-file="$box/munge/log" --seed-file="$box/munge/seed" >"$box/log/munged.out" 2>&1 &
for _ in $(seq 1200); do
  if [ -S "$box/run/munge.sock" ]; then break; fi
  sleep 0.05
done
slurmctld -D -i >"$box/log/slurmctld.out" 2>&1 &
for i in $(seq "$nodes"); do
  mkdir -p "$box/spool-n$i" "$box/tmp-n$i"
  unshare --uts bash -c "hostname n$i; exec slurmd -D -N n$i" >"$box/log/slurmd-n$i.out" 2>&1 &
done
state=''
for _ in $(seq 600); do
  state=$(timeout 20 sinfo -h -o '%D %T' 2>/dev/null || true)
  if [ "$state" = "$nodes idle" ]; then break; fi
  sleep 0.1
done
if [ "$state" != "$nodes idle" ]; then
  echo "the cluster did not come up: $state" >&2
  tail -n 20 "$box"/log/*.out >&2
  exit 1
fi
code=0
"$@" || code=$?
if [ "$code" -ne 0 ]; then tail -n 15 "$box"/log/*.log >&2; fi
exit "$code"
