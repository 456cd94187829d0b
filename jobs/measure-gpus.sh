#!/usr/bin/env bash
# All raw files about GPU barriers that docs/results holds of a machine, by one program in one go: the topology, every method over
# the shapes, the library beside the algorithm alone and in all its forms, barriers beside load and with a late GPU, one rank per GPU,
# work between rounds, launches. Some 7 minutes with 2 GPUs.
# Usage: measure-gpus.sh MGSYNC FOLDER NAME [PART...]   writes FOLDER/NAME/barriers.json.xz, ... (NAME: "h200x2")
# PART: topology, barriers, grid, library, library-forms, library-work, load-one, load-grid, load, ranks-ipc, ranks-vmm, work, late,
# late-fence, batches or launch (default: all, in this order); load puts together what load-one and load-grid measured.
# POINT is the time for each point in ms (default: 60), CHECK the rounds that each is checked (default: 1000; library and grid: 10,000),
# COUNTS the numbers of GPUs (default: 1, 2, 4, 8 as far as there are), WITHIN the seconds after which no part begins or goes on (default:
# none; a part that is cut short writes what it has).
set -euo pipefail
all=(topology barriers grid library library-forms library-work load-one load-grid load ranks-ipc ranks-vmm work late late-fence batches launch)
[ $# -ge 3 ] || { echo "usage: $0 MGSYNC FOLDER NAME [PART...], PART one of: ${all[*]}" >&2; exit 2; }
mgsync=$(realpath "$1") folder=$2/$3 point=${POINT:-60} check=${CHECK:-1000}
shift 3
[ $# -gt 0 ] || set -- "${all[@]}"
for what; do
  [[ " ${all[*]} " == *" $what "* ]] || { echo "$0: \"$what\" is no part: ${all[*]}" >&2; exit 2; }
done
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=0
[ "$gpus" -gt 0 ] || { echo "$0: nvidia-smi shows no GPU here" >&2; exit 4; }
counts=${COUNTS:-}
for n in 1 2 4 8; do [ -n "${COUNTS:-}" ] || [ "$n" -gt "$gpus" ] || counts=${counts:+$counts,}$n; done
mkdir -p "$folder"
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

# A part that fails, or is stuck, does not take the others with it.
failed=0 started=$SECONDS
bounded() { # WHAT SECONDS COMMAND...
  local what=$1 limit=$2 code=0 left=$((${WITHIN:-1000000} - SECONDS + started))
  shift 2
  printf '\n== %s\n' "$what"
  [ "$left" -gt 5 ] || { echo "$what: left out, $SECONDS s are over" >&2; failed=1; return; }
  timeout --kill-after=10 "$((limit < left ? limit : left))" "$@" || code=$?
  echo "$what: $((SECONDS - started)) s after the start"
  [ "$code" -eq 0 ] || { echo "$what: exit code $code" >&2; failed=1; }
}
part() { bounded "$@" --timeout 20s --json "$folder/$1.json"; }
checked() { part "$@" --check-rounds "$check"; }

beside=multigrid:auto,multigrid:library,multigrid:vendor,nccl-device:hub,nccl-device:hub-relay
hops=hop:relaxed,hop:fence-gpu,hop:fence-system,hop:release-acquire
others=peer-stores:x512@others,peer-stores:x128@others,peer-stores:16x512@others,peer-stores:4x512@others
others=$others,peer-loads@others,local-stores@others,local-loads@others,host-reads@others,host-reads:1x32@others

for what; do
  case $what in load* | ranks-* | late*) [ "$gpus" -ge 2 ] || continue ;; esac
  case $what in
    topology) timeout 30 "$mgsync" topology >"$folder/topology.txt" || failed=1 ;;
    barriers)
      checked barriers 240 "$mgsync" --backend all --gpus "$counts" --shape b1x32,1x32,1x1024,4x256,8x256,32x64 --max-time "${point}ms"
      ;;
    grid)
      part grid 60 "$mgsync" --backend grid:auto,grid:cooperative-groups --gpus 1 --shape b1x32,1x32,1x1024,4x256,8x256,16x64,32x64 \
        --max-time "$((2 * point))ms"
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
        --shape 1x32,32x64 --work 2,5 --max-time "$((5 * point / 2))ms"
      ;;
    load-one)
      checked load-one 150 "$mgsync" --backend "$beside,$hops" --gpus 2 --shape b1x32 --max-time "$((2 * point))ms" \
        --load "idle,$others,peer-stores:x128@all"
      ;;
    load-grid)
      checked load-grid 120 "$mgsync" --backend "$beside,multigrid:crowd,$hops,hop:arrival,hop:grid" --gpus 2 --shape 1x32 \
        --max-time "$((2 * point))ms" --load idle,peer-stores:x128@all,peer-stores:x32@all,peer-loads:x128@all,host-reads@all
      ;;
    load)
      (cd "$folder"
        for one in load-one load-grid; do [ -f "$one.json" ] || xz -dk "$one.json.xz"; done
        "$mgsync" merge load-one.json load-grid.json --json load.json >/dev/null) || failed=1
      ;;
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
    late-fence) part late-fence 60 "$mgsync" study library --part fence --gpus "$gpus" ;;
    launch) part launch 240 "$mgsync" study launch --gpus "$counts" --shape 1x32,1x1024 ;;
  esac
done
# By xz itself: not every mgsync is built with liblzma.
if command -v xz >/dev/null; then find "$folder" -name '*.json' -exec xz -f {} +; fi
exit "$failed"
