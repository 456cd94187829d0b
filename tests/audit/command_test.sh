#!/usr/bin/env bash
# `mgsync audit` as it is typed: its exit codes, its text and its document.
set -euo pipefail
mgsync=$1
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
expect 0 '0 faults, 2 doubts' "$mgsync" audit "$made/doubtful_equality.ptx"
expect 4 'nothing to judge' "$mgsync" audit "$made/work_queue.ptx"
expect 3 'clock-not-waited' "$mgsync" audit barriers_90.ptx barriers_90.cubin
head -c 300 barriers_90.cubin > "$made/cut.cubin"
expect 2 'cut.cubin: .*accepted: PTX, a cubin' "$mgsync" audit "$made/cut.cubin"
expect 2 'nosuch' "$mgsync" audit "$made/nosuch"
expect 2 'takes files' "$mgsync" audit
expect 2 'does not take --across-gpus' "$mgsync" show x --across-gpus
expect 3 '"rule": "release"' "$mgsync" audit "$made/wrong_relaxed_start.ptx" --json -
expect 3 '1 fault' "$mgsync" audit "$made/wrong_relaxed_start.ptx" --json "$made/found.json"
grep -q '"schema": "mgsync-audit/1"' "$made/found.json" || { echo "no document"; failed=1; }
exit $failed
