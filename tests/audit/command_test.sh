#!/usr/bin/env bash
# `mgsync audit` as it is typed: its exit codes, its text and its document.
set -euo pipefail
mgsync=$1 has_solver=$2 has_zstd=$3
cd "$(dirname "$0")"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
failed=0
expect() { # CODE TEXT COMMAND...
  local code=$1 text=$2 is=0
  shift 2
  "$@" > "$made/out" 2>&1 || is=$?
  if [ "$is" != "$code" ] || ! grep -q -e "$text" "$made/out"; then
    echo "$*: exit code $is, not $code with '$text':"
    head -20 "$made/out"
    failed=1
  fi
}
kernel() { # NAME: that one of the PTX, with the head
  sed -n -e '1,/^\.address_size/p' -e "/^\.visible \.entry $1(/,/^}/p" barriers_90.ptx > "$made/$1.ptx"
}
for one in wrong_relaxed_start sound_fences wrong_gpu_scope work_queue doubtful_equality; do kernel "$one"; done
expect 3 'release: nothing releases between' "$mgsync" audit "$made/wrong_relaxed_start.ptx"
expect 3 'instead: st.release.sys' "$mgsync" audit "$made/wrong_relaxed_start.ptx"
expect 0 'is not thereby right' "$mgsync" audit "$made/sound_fences.ptx"
expect 0 'not known: whether another GPU takes part' "$mgsync" audit "$made/wrong_gpu_scope.ptx"
expect 3 'flag-scope' "$mgsync" audit --across-gpus "$made/wrong_gpu_scope.ptx"
expect 0 '0 faults, 2 doubts in 1 function that waits or reads the clock, of 1. What' "$mgsync" audit "$made/doubtful_equality.ptx"
expect 4 'nothing to judge' "$mgsync" audit "$made/work_queue.ptx"
expect 4 'not judged: each loop that reads global memory stores data' "$mgsync" audit "$made/work_queue.ptx"
expect 0 'note: no bound: this spins for ever' "$mgsync" audit "$made/sound_fences.ptx"
# Where nvcc -lineinfo wrote it, the line of the source is named, too; .file may stand behind the functions.
awk '/st.relaxed.sys/ { print ".loc 1 31 3, function_name $L__info, inlined_at 1 90 5" } { print }
  END { print "  .file 1 \"/home/me/kernels/flag.cu\"" }' "$made/wrong_relaxed_start.ptx" > "$made/located.ptx"
expect 3 'line [0-9]* (flag.cu:31): st.relaxed.sys' "$mgsync" audit "$made/located.ptx"
expect 3 '"source": "flag.cu:31"' "$mgsync" audit "$made/located.ptx" --json -
# Functions that were not judged, by the names that they have in the source.
sed 's/work_queue/_Z8my_queuePj/' "$made/work_queue.ptx" | cat "$made/sound_fences.ptx" - > "$made/both.ptx"
expect 0 '^  my_queue(unsigned int\*)$' "$mgsync" audit "$made/both.ptx"
expect 0 '"not_judged": "each loop' "$mgsync" audit "$made/both.ptx" --json -
for i in 1 2 3 4 5 6; do sed "s/work_queue/queue$i/" "$made/work_queue.ptx"; done > "$made/six.ptx"
expect 4 '^  and 2 more$' "$mgsync" audit "$made/six.ptx"
expect 3 'clock-not-waited' "$mgsync" audit barriers_90.ptx barriers_90.cubin
head -c 300 barriers_90.cubin > "$made/cut.cubin"
expect 2 'cut.cubin: .*accepted: PTX, a cubin' "$mgsync" audit "$made/cut.cubin"
# Of an object file of the host its fat binaries alone are read, however large it is.
if [ "$has_zstd" = ON ]; then
  printf '.section .nv_fatbin,"a"\n.incbin "packed_zstd.fatbin"\n' | g++ -c -x assembler -o "$made/large.o" -
  truncate -s 3G "$made/large.o"
  expect 3 'large.o, machine code for 9.0' "$mgsync" audit "$made/large.o"
fi
truncate -s 80M "$made/zeros"
expect 2 'zeros: larger than 64 MiB' "$mgsync" audit "$made/zeros"
expect 2 'nosuch' "$mgsync" audit "$made/nosuch"
expect 2 'takes files' "$mgsync" audit
expect 2 'does not take --across-gpus' "$mgsync" show x --across-gpus
expect 3 '"rule": "release"' "$mgsync" audit "$made/wrong_relaxed_start.ptx" --json -
expect 3 '1 fault' "$mgsync" audit "$made/wrong_relaxed_start.ptx" --json "$made/found.json"
grep -q '"schema": "mgsync-audit/1"' "$made/found.json" || { echo "no document"; failed=1; }

# Barriers that are written for `mgsync check`, asked of all executions at a bound.
asked() { # BARRIER: its kernel of contract.cu
  sed -n -e '1,/^\.address_size/p' -e "/entry .*asked_rounds.*$1/,/^ret;/p" contract_90.ptx > "$made/$1.ptx"
  echo '}' >> "$made/$1.ptx"
}
for one in 7countedILi0E 7countedILi1E 7countedILi2E 7in_turn 10of_one_gpu 7started 10by_maximum; do asked "$one"; done
if [ "$has_solver" != ON ]; then
  expect 2 'built without it: -DMGSYNC_Z3=ON' "$mgsync" audit --model "$made/7countedILi2E.ptx"
  exit $failed
fi
expect 0 '2 GPUs x 1 block x 2 threads: no execution at this bound' "$mgsync" audit --model "$made/7countedILi2E.ptx"
expect 0 '1 GPU x 2 blocks x 2 threads: no execution at this bound' "$mgsync" audit --model "$made/7countedILi2E.ptx"
# Of blocks that wait for those of equal number only, the others are not asked about.
expect 0 '1 GPU x 2 blocks x 2 threads: no execution at this bound .*(4 pairs' "$mgsync" audit --model "$made/7in_turn.ptx"
expect 3 'ld.weak.global.u32 \[the word of the writer\] got' "$mgsync" audit --model "$made/7countedILi0E.ptx"
# Of the GPU's scope: right on one, and wrong between two.
expect 3 '2 GPUs x 1 block x 2 threads: an execution in which' "$mgsync" audit --model "$made/7countedILi1E.ptx"
expect 3 '2 GPUs x 1 block x 2 threads: an execution in which' "$mgsync" audit --model "$made/10of_one_gpu.ptx"
sed 's/\.gpu\./.sys./' "$made/10of_one_gpu.ptx" > "$made/of_all.ptx"
expect 0 '1 GPU x 2 blocks x 2 threads: no execution' "$mgsync" audit --model "$made/of_all.ptx"
expect 0 'Asked as if its memory began as zeros' "$mgsync" audit --model "$made/7started.ptx"
expect 4 "not known: PTX, line [0-9]*: 'atom.global.sys.max" "$mgsync" audit --model "$made/10by_maximum.ptx"
# What a sound one is without its fences, or with its loads relaxed.
sed 's/fence\.acq_rel\.sys;//; s/membar\.sys;//' "$made/7countedILi2E.ptx" > "$made/unfenced.ptx"
expect 3 'an execution in which' "$mgsync" audit --model "$made/unfenced.ptx"
sed 's/ld\.acquire\.sys/ld.relaxed.sys/' "$made/7in_turn.ptx" > "$made/relaxed.ptx"
expect 3 'an execution in which' "$mgsync" audit --model "$made/relaxed.ptx"
# shellcheck disable=SC2016  # a label of PTX that is not there
sed 's/bra.*;/bra $nowhere;/' "$made/7in_turn.ptx" > "$made/broken.ptx"
expect 4 'not known: .*goes to a label that is not there' "$mgsync" audit --model "$made/broken.ptx"
expect 2 'There is none in what was named' "$mgsync" audit --model "$made/sound_fences.ptx"
expect 3 '"answer": "an execution"' "$mgsync" audit --model "$made/relaxed.ptx" --json -
exit $failed
