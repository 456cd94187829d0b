#!/usr/bin/env bash
# The raw files about GPUs that docs/results holds of a machine, by one program in one go; maps and timelines have scripts of their own
# beside this one. About barriers: the topology, every method over the shapes, the library beside the algorithm alone and in all its
# forms, barriers beside load and with a late GPU, other projects' barriers, one rank per GPU, work between rounds, launches, three
# processes that acceptances are held against, an acceptance, and two virtual nodes that share a GPU: some 8 minutes with 2 GPUs. About
# the other studies of one GPU ("studies"): 5 minutes. Millions of checked rounds of the library ("rounds"): 5 minutes.
# Usage: measure-gpus.sh MGSYNC FOLDER NAME [PART...]   writes FOLDER/NAME/barriers.json.xz, ... (NAME: "h200x2")
# PART: topology, references, acceptance, barriers, grid-barriers, inner-barriers, library, library-forms, library-work, library-load,
# library-study, load-one, load-grid, load, peers, peers-load-block, peers-load-grid, ranks-ipc, ranks-vmm, work, late, late-fence,
# batches, launch-times, launch-arguments, launch-policies, launch, nodes or nodes-nccl (default: all, in this order; peers-load-... of
# one GPU alone). acceptance is held against the references before it; load and launch put together what those just before them
# measured. And model, verify, switch, reduction, levels, pipeline-synthetic, pipeline-mma, pipeline-wgmma, pipeline-mma-fresh or
# pipeline-cublas: "studies" stands for all of these; library-ten-million or library-rounds: "rounds" for both.
# POINT is the time for each point in ms (default: 60), CHECK the rounds that each is checked (default: 1000; library and grid-barriers:
# 10,000), COUNTS the numbers of GPUs (default: 1, 2, 4, 8 as far as there are), WITHIN the seconds after which no part begins or goes on
# (default: none; a part that is cut short writes what it has). docs/publish.sh publishes the folder.
set -euo pipefail
all=(topology references acceptance barriers grid-barriers inner-barriers library library-forms library-work library-load library-study
  load-one load-grid load peers peers-load-block peers-load-grid ranks-ipc ranks-vmm work late late-fence batches
  launch-times launch-arguments launch-policies launch nodes nodes-nccl)
studies=(model verify switch reduction levels pipeline-synthetic pipeline-mma pipeline-wgmma pipeline-mma-fresh pipeline-cublas)
rounds=(library-ten-million library-rounds)
known=" ${all[*]} studies ${studies[*]} rounds ${rounds[*]} "
[ $# -ge 3 ] || { echo "usage: $0 MGSYNC FOLDER NAME [PART...], PART one of:${known% }" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) mgsync=$(realpath "$1") folder=$2/$3 point=${POINT:-60} check=${CHECK:-1000}
shift 3
[ $# -gt 0 ] || set -- "${all[@]}"
parts=()
for what; do
  [[ $known == *" $what "* ]] || { echo "$0: \"$what\" is no part:${known% }" >&2; exit 2; }
  case $what in
    studies) parts+=("${studies[@]}") ;;
    rounds) parts+=("${rounds[@]}") ;;
    *) parts+=("$what") ;;
  esac
done
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
[ "$gpus" -gt 0 ] || { echo "$0: nvidia-smi shows no GPU here" >&2; exit 4; }
counts=${COUNTS:-}
for n in 1 2 4 8; do [ -n "${COUNTS:-}" ] || [ "$n" -gt "$gpus" ] || counts=${counts:+$counts,}$n; done
mkdir -p "$folder"
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

# A part that fails, or is stuck, does not take the others with it.
failed=0 started=$SECONDS without=' '
bounded() { # WHAT SECONDS COMMAND...
  local what=$1 limit=$2 code=0 left=$((${WITHIN:-1000000} - SECONDS + started))
  shift 2
  printf '\n== %s\n' "$what"
  [ "$left" -gt 5 ] || { echo "$what: left out, $SECONDS s are over" >&2; failed=1 without+="$what "; return; }
  timeout --kill-after=10 "$((limit < left ? limit : left))" "$@" || code=$?
  echo "$what: $((SECONDS - started)) s after the start"
  [ "$code" -eq 0 ] || { echo "$what: exit code $code" >&2; failed=1 without+="$what "; }
}
part() { bounded "$@" --timeout 20s --json "$folder/$1.json"; }
checked() { part "$@" --check-rounds "$check"; }

beside=multigrid:auto,multigrid:library,multigrid:vendor,nccl-device:hub,nccl-device:hub-relay
hops=hop:relaxed,hop:fence-gpu,hop:fence-system,hop:release-acquire
others=peer-stores:x512@others,peer-stores:x128@others,peer-stores:16x512@others,peer-stores:4x512@others
others=$others,peer-loads@others,local-stores@others,local-loads@others,host-reads@others,host-reads:1x32@others

reference=grid:auto,grid:cooperative-groups,multigrid:library,multigrid:auto
[ "$gpus" -lt 2 ] || reference=$reference,kernel-boundary:graph,kernel-boundary:traditional,openmp:runtime
peers='peers:*,multigrid:auto,multigrid:library,multigrid:library-none,multigrid:hub,multigrid:inbox,multigrid:vendor,nccl-device:hub'
[ "$gpus" -ge 2 ] || peers=$peers,grid:auto

unpacked() { # PART...: the files of what was measured before, for who cannot read them packed; not an older one where one failed now
  for one; do
    [[ $without != *" $one "* ]] || { echo "$one is missing" >&2; return 1; }
    [ -f "$folder/$one.json" ] || xz -dk "$folder/$one.json.xz" || return 1
  done
}
together() { # NAME PART...: one file of what these measured
  local name=$1
  shift
  unpacked "$@" && (cd "$folder" && "$mgsync" merge "${@/%/.json}" --json "$name.json") >/dev/null
}
# Two virtual nodes that share a GPU, on which kernels of two processes run at once under MPS alone. NCCL takes them for two nodes too.
nodes() { # NAME OPTION...
  local what=$1 first=${CUDA_VISIBLE_DEVICES:-0} mps
  shift
  mps=$(mktemp -d) first=${first%%,*}
  local -a under=("CUDA_MPS_PIPE_DIRECTORY=$mps" "CUDA_MPS_LOG_DIRECTORY=$mps")
  if timeout 10 env "${under[@]}" "CUDA_VISIBLE_DEVICES=$first" nvidia-cuda-mps-control -d; then
    case $first in [0-9]*) first=0 ;; esac # the server's only one
    under+=("CUDA_VISIBLE_DEVICES=$first")
    # shellcheck disable=SC2016  # expanded on the node
    part "$what" 60 env "${under[@]}" NCCL_SOCKET_IFNAME=lo bash "$here/virtual-nodes.sh" 2 1 \
      bash -c 'NCCL_HOSTID=$(hostname) exec "$@"' mgsync "$mgsync" --gpus 2 --oversubscribe --max-time "$((5 * point))ms" "$@"
    echo quit | timeout 10 env "${under[@]}" nvidia-cuda-mps-control || failed=1
  else
    failed=1
  fi
  rm -rf "$mps"
}
study() { # NAME SECONDS STUDY OPTION...
  local what=$1 limit=$2
  shift 2
  part "$what" "$limit" "$mgsync" study "$@"
}

for what in "${parts[@]}"; do
  case $what in load* | library-load | ranks-* | late*) [ "$gpus" -ge 2 ] || continue ;; esac
  case $what in
    topology) timeout 30 "$mgsync" topology >"$folder/topology.txt" || failed=1 ;;
    barriers)
      checked barriers 240 "$mgsync" --backend all --gpus "$counts" --shape b1x32,1x32,1x1024,4x256,8x256,32x64 --max-time "${point}ms"
      ;;
    grid-barriers)
      part grid-barriers 60 "$mgsync" --backend grid:auto,grid:cooperative-groups --gpus 1 --shape b1x32,1x32,1x1024,4x256,8x256,16x64,32x64 \
        --max-time "$((2 * point))ms"
      ;;
    references)
      for n in 1 2 3; do
        part "reference-$n" 30 "$mgsync" --backend "$reference" --gpus "$counts" --shape 1x32,4x256,32x64 --max-time 50ms --check-rounds 1000
      done
      ;;
    inner-barriers)
      part inner-barriers 30 "$mgsync" --backend 'warp:*,block:*,cluster:*' --gpus 1 --shape b1x32,b1x256,b1x1024,b2x32,b8x256,b16x32 \
        --max-time "$((5 * point))ms" --check-rounds 4000
      ;;
    peers)
      checked peers 60 "$mgsync" --backend "$peers" --gpus "$gpus" --shape b1x32,1x32,4x256 --max-time "$((2 * point))ms"
      ;;
    peers-load-*)
      [ "$gpus" -lt 2 ] || continue
      shape=1x32 load=local-stores:x128@all,host-reads@all
      [ "$what" = peers-load-grid ] || shape=b1x32 load=local-stores:x128@others,host-reads@others
      part "$what" 60 "$mgsync" --backend "$peers" --gpus 1 --shape "$shape" --max-time "$((3 * point))ms" --check-rounds 200 --load "$load"
      ;;
    library)
      part library 60 "$mgsync" --backend multigrid:auto,multigrid:library --gpus "$counts" --shape b1x32,1x32,1x1024,4x256,8x256,16x64,32x64
      ;;
    library-forms)
      part library-forms 120 "$mgsync" --backend "multigrid:auto,multigrid:library*,nccl:graph,nccl:graph-registered,peer-reduction:push" \
        --gpus "$counts" --shape b1x32,1x32,4x256,32x64 --max-time "$((5 * point / 2))ms" --check-rounds 10000
      ;;
    library-work)
      part library-work 60 "$mgsync" --backend multigrid:library,multigrid:library-one-warp,multigrid:library-split --gpus "$counts" \
        --shape 1x32,1x64,32x64 --work 0,2,5 --max-time "$((5 * point / 2))ms"
      ;;
    library-load)
      checked library-load 60 "$mgsync" --gpus 2 --shape b1x32,1x32 --max-time "$((2 * point))ms" \
        --backend multigrid:library,multigrid:library-none,multigrid:library-release,multigrid:library-mixed-one,multigrid:library-mixed-none \
        --load idle,peer-stores:x128@all,peer-loads:x128@all,host-reads@all
      ;;
    library-study) study study-library 240 library --part sync,stencil --gpus "$counts" ;;
    load-one)
      checked load-one 150 "$mgsync" --backend "$beside,$hops" --gpus 2 --shape b1x32 --max-time "$((2 * point))ms" \
        --load "idle,$others,peer-stores:x128@all"
      ;;
    load-grid)
      checked load-grid 120 "$mgsync" --backend "$beside,multigrid:crowd,$hops,hop:arrival,hop:grid" --gpus 2 --shape 1x32 \
        --max-time "$((2 * point))ms" --load idle,peer-stores:x128@all,peer-stores:x32@all,peer-loads:x128@all,host-reads@all
      ;;
    acceptance)
      unpacked reference-1 reference-2 reference-3 && bounded acceptance 60 "$mgsync" accept --anonymous --line "$folder/accept.jsonl" \
        --against "$folder/reference-1.json,$folder/reference-2.json,$folder/reference-3.json" || failed=1
      ;;
    load) together load load-one load-grid || failed=1 ;;
    ranks-*)
      checked "$what" 60 mpirun --bind-to none -np "$gpus" "$mgsync" \
        --backend multigrid:auto,multigrid:library,multigrid:inbox,nccl:stream,nccl:graph,mpi:\* \
        --gpus "$gpus" --shape 1x32 --max-time "$((3 * point))ms" --peer-memory "${what#ranks-}"
      ;;
    # What the host drives needs longer runs.
    work) checked work 60 "$mgsync" --backend kernel-boundary:\* --gpus "$counts" --shape 1x32 --work 20,200 --max-time "$((3 * point))ms" ;;
    batches)
      checked batches 60 "$mgsync" --backend kernel-boundary:\*,nccl:\*,openmp:\* --gpus "1-$gpus" --shape 1x32 --max-time "$((3 * point))ms"
      ;;
    # A round takes the 5 ms and more: some tens of them each.
    late)
      checked late 60 "$mgsync" --backend multigrid:auto,multigrid:library,multigrid:vendor,nccl-device:hub --gpus 2 --shape b1x32,1x32 \
        --late 0,5000 --max-time 500ms
      ;;
    late-fence) study late-fence 60 library --part fence --gpus "$gpus" ;;
    launch-times) study "$what" 240 launch --gpus "$counts" --shape 1x32,1x1024 ;;
    launch-arguments) study "$what" 60 launch --gpus 1 --quantity fused,null --kind traditional,graph --argument-bytes 8,128,4096 ;;
    launch-policies) study "$what" 20 launch --gpus 1 --quantity total --kind traditional --policy all ;;
    launch) together launch launch-times launch-arguments launch-policies || failed=1 ;;
    nodes) nodes "$what" --backend nodes:leader,mpi --shape b1x32,1x32 --check-rounds 10000 ;;
    nodes-nccl) nodes "$what" --backend nccl:stream,nccl:graph --shape 1x32 --check-rounds 1000 ;;
    library-ten-million)
      shape=b1x32,1x32 each=5000000
      [ "$gpus" -ge 2 ] || shape=1x32 each=10000000 # one block of one GPU meets nobody
      bounded "$what" 240 "$mgsync" --backend multigrid:library --gpus "$gpus" --shape "$shape" --check-rounds "$each" \
        --max-time 100ms --timeout 90s --json "$folder/$what.json"
      ;;
    library-rounds)
      bounded "$what" 240 "$mgsync" --backend 'multigrid:library-*' --gpus "$gpus" --shape 1x32 --check-rounds 1000000 \
        --max-time "${point}ms" --timeout 60s --json "$folder/$what.json"
      ;;
    model | verify) study "$what" 40 "$what" ;;
    switch)
      study switch 30 reduction --device gpu --way read-graph,auto-graph --reading vector4:1024x1:one,vector4:256x2:all --type fp64 \
        --memory cold,cache --bytes 8,4096,16384,32768,65536,131072,262144,524288,1048576 --max-time 50
      ;;
    reduction) study reduction 120 reduction --device gpu ;;
    levels) study levels 120 levels --run 1,2 ;;
    pipeline-synthetic) study "$what" 20 pipeline --device gpu --kernel synthetic ;;
    pipeline-mma) study "$what" 90 pipeline --device gpu --kernel mma --size paper,random ;;
    pipeline-wgmma) study "$what" 100 pipeline --device gpu --kernel wgmma --size paper,random,large,fresh ;;
    pipeline-mma-fresh) study "$what" 60 pipeline --device gpu --kernel mma --tile 64x64x64,64x64x128 --size fresh ;;
    pipeline-cublas) study "$what" 30 pipeline --device gpu --kernel cublas --size fresh,large ;;
  esac
done
# By xz itself: not every mgsync is built with liblzma.
if command -v xz >/dev/null; then find "$folder" -name '*.json' -exec xz -f {} +; fi
exit "$failed"
