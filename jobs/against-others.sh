#!/usr/bin/env bash
# Measures what mgsync measures by programs that are not ours, on the same machine in turns (docs/results/host-barriers.md):
#   mpi       MPI_Barrier by OSU's osu_barrier
#   openmp, parallel   OpenMP's barrier, and the start and end of a parallel region, by EPCC's syncbench
#   launch    a kernel's launch by a plain loop, docs/examples/launch_loop
#   nccl      NCCL's device barrier over 2 GPUs by a plain loop
# Usage: against-others.sh MGSYNC OSU_BARRIER SYNCBENCH [COUNT...]   "" in place of a program leaves it out
# COUNT: of ranks and of threads (default: 2 4 8 16, as far as there are cores); launch and nccl have none.
# In the environment:
#   PAIRS        alternated pairs of processes (9)
#   WHAT         only these of the words above
#   LAUNCH_LOOP  the path of launch_loop
#   PEERS        a program that prints "NCCL LSA barrier, 1 block: gpus=2 1.36 us" and "NCCL LSA hub between two grid.sync: gpus=2
#                blk/SM=1 thr=32 3.28 us", the same for other shapes
#   TALK_FIRST   build/host/tests/mpi/libtalk_first.so, loaded ahead of osu_barrier: all pairs of ranks talk first, and its
#                loop is timed as a whole, as mgsync does it
#   JSON         a file for the pairs of mpi, openmp and parallel as a document of results (mgsync show FILE --by members --value ci95)
# Writes a line per pair, "what,count,pair,theirs_us,ours_us", and at the end the median of the ratios for each.
set -uo pipefail
mgsync=$1 osu=$2 syncbench=$3 said="$0 $*"
shift 3
counts=("$@")
[ ${#counts[@]} -gt 0 ] || counts=(2 4 8 16)
pairs=${PAIRS:-9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
# EPCC's threads are bound as mgsync binds its own.
ours=(--device host --max-time "${MAX_TIME:-500ms}" --check-rounds 400 --csv "$work/csv" --json "$work/ours.json")

latency() { # of the only row; words in quotes may hold commas, but stand behind it
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "latency_us" || $i == "median") at = i } NR == 2 { print $at }' \
    "$work/csv"
}
epcc() { # THREADS LINE WORDS...: the last "LINE overhead = ... us"
  local threads=$1 line=$2
  shift 2
  OMP_NUM_THREADS=$threads OMP_PLACES=cores OMP_PROC_BIND=close "$syncbench" --outer-repetitions 20 --test-time 2000 "$@" 2>/dev/null |
    awk -v line="$line" '$1 == line && $2 == "overhead" { for (i = 1; i <= NF; ++i) if ($i == "=") v = $(i + 1) } END { print v }'
}
theirs_mpi() {
  mpirun ${TALK_FIRST:+-x "LD_PRELOAD=$TALK_FIRST"} --bind-to core -np "$1" "$osu" -i 20000 -x 2000 2>&1 |
    awk '/^ *[0-9]/ { took = $1 } /the whole loop: / { whole = $4 } END { print whole == "" ? took : whole }'
}
ours_mpi() {
  mpirun --bind-to core -np "$1" "$mgsync" "${ours[@]}" --backend mpi --members "$1" >/dev/null 2>"$work/err"
  latency
}
theirs_openmp() { epcc "$1" BARRIER --delay-time 0.001; }
theirs_parallel() { epcc "$1" PARALLEL; }
ours_parallel() {
  "$mgsync" study launch --device host --kind openmp-region --quantity null --members "$1" --csv "$work/csv" --json "$work/ours.json" >/dev/null 2>"$work/err"
  latency
}
theirs_launch() { "${LAUNCH_LOOP:?where is launch_loop}" 40 | awk -F, 'NR == 2 { print $2 }'; }
ours_launch() {
  "$mgsync" study launch --device gpu --kind traditional --quantity fused --gpus 1 --csv "$work/csv" >/dev/null 2>"$work/err"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "overhead_us") at = i } NR == 2 { print $at }' "$work/csv"
}
ours_openmp() {
  "$mgsync" "${ours[@]}" --backend openmp:runtime --members "$1" >/dev/null 2>"$work/err"
  latency
}

nccl_shapes="b1x32 1x32 4x256 8x256"
theirs_nccl() { # SHAPE US, a line each
  CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0,1} "${PEERS:?where is the program}" 2>/dev/null |
    awk '/gpus=2 / && /LSA barrier, 1 block/ { print "b1x32", $(NF - 1) }
         /gpus=2 / && /LSA hub/ { split($(NF - 3), m, "="); split($(NF - 2), t, "="); print m[2] "x" t[2], $(NF - 1) }' >"$work/theirs"
}
ours_nccl() {
  "$mgsync" --backend nccl-device:hub --gpus 2 --shape "${nccl_shapes// /,}" --max-time "${MAX_TIME:-300ms}" --check-rounds 200 \
    --csv "$work/csv" >/dev/null 2>"$work/err"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
           { print ($at["blocks"] != "" ? "b" $at["blocks"] : $at["blocks_per_sm"]) "x" $at["threads_per_block"], $at["latency_us"] }' \
    "$work/csv" >"$work/ours"
}
pairs_nccl() {
  for ((pair = 1; pair <= pairs; ++pair)); do
    if ((pair % 2)); then theirs_nccl; ours_nccl; else ours_nccl; theirs_nccl; fi
    for shape in $nccl_shapes; do
      echo "nccl,$shape,$pair,$(awk -v s="$shape" '$1 == s { print $2 }' "$work/theirs"),$(awk -v s="$shape" '$1 == s { print $2 }' "$work/ours")"
    done | tee -a "$work/pairs"
  done
}

for what in ${WHAT:-mpi openmp parallel}; do
  if [ "$what" = nccl ]; then pairs_nccl; continue; fi
  if [ "$what" = mpi ] && [ -z "$osu" ]; then continue; fi
  if [ "$what" != mpi ] && [ "$what" != launch ] && [ -z "$syncbench" ]; then continue; fi
  these=("${counts[@]}")
  if [ "$what" = launch ]; then these=(1); fi
  for count in "${these[@]}"; do
    [ "$count" -le "$(nproc)" ] || continue
    for ((pair = 1; pair <= pairs; ++pair)); do
      if ((pair % 2)); then
        them=$(theirs_"$what" "$count") us=$(ours_"$what" "$count")
      else
        us=$(ours_"$what" "$count") them=$(theirs_"$what" "$count")
      fi
      echo "$what,$count,$pair,$them,$us" | tee -a "$work/pairs"
    done
  done
done

if [ -n "${JSON:-}" ] && [ -s "$work/ours.json" ]; then
  python3 "$(dirname "$0")/pairs_document.py" "$work/pairs" "$work/ours.json" "$said" >"$JSON"
fi

# The interval: order statistics of a median; of 9 values the second and the eighth (96 %).
awk -F, '$4 > 0 && $5 > 0 { print $1 "," $2, $5 / $4 }' "$work/pairs" | sort -t' ' -k1,1 -k2,2g |
  awk '{ if ($1 != last) { show(); n = 0; last = $1 } r[++n] = $2 }
    function show() {
      cut = (n > 8) ? 1 : 0
      if (n) printf("%s: ours / theirs %.3f (%.3f..%.3f) over %d pairs\n", last, (r[int((n + 1) / 2)] + r[int(n / 2) + 1]) / 2, r[1 + cut], r[n - cut], n)
    }
    END { show() }'
