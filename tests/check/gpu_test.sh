#!/usr/bin/env bash
# Barriers of GPUs, compiled as a user's: what their machine code shows anywhere, and, where there is a GPU, what rounds show.
# Usage: gpu_test.sh MGSYNC NVCC HEADERS ARCHITECTURE
set -euo pipefail
mgsync=$1 nvcc=$2 headers=$3 arch=$4
here=$(cd "$(dirname "$0")" && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
failed=0

compile() { # FILE DEFINES...
  "$nvcc" -std=c++17 -O3 -arch="sm_$arch" -Werror all-warnings -Xcompiler -Wall,-Wextra -shared -Xcompiler -fPIC -I "$headers" \
    "${@:2}" "$here/gpu_barriers.cu" -o "$made/$1"
}
expect() { # CODE TEXT COMMAND...
  local code=$1 text=$2 is=0
  shift 2
  timeout 300 "$@" >"$made/out" 2>&1 || is=$?
  if [ "$is" != "$code" ] || ! grep -q -- "$text" "$made/out"; then
    echo "$*: exit code $is, not $code with '$text':"
    head -60 "$made/out"
    failed=1
  fi
}
compile all.so &
compile right.so -DONLY=counter &
root=$here/../..
"$nvcc" -std=c++17 -O3 -arch="sm_$arch" -Werror all-warnings -Xcompiler -Wall,-Wextra -shared -Xcompiler -fPIC -I "$root" \
  -I "$root/barriers/library/include" "$here/gpu_peers.cu" -o "$made/peers.so" &
wait
[ -s "$made/all.so" ] && [ -s "$made/right.so" ] && [ -s "$made/peers.so" ] || exit 1

echo "== machine code of the timed loops: flags of one GPU between GPUs are seen, and nothing in the right one is"
"$mgsync" audit --across-gpus "$made/all.so" >"$made/audit" || [ $? = 3 ] || { cat "$made/audit"; exit 1; }
of_timed() { # NAME [PATTERN]: what is said of its loop of timed rounds, of it the lines with the pattern. In no pipe: with
  # pipefail awk's end counts, which a reader that has seen enough kills.
  awk -v name="$1" -v pattern="${2:-}" '/^  [^ ]/ {mine = /timed_rounds/ && $0 ~ name} mine && $0 ~ pattern' "$made/audit"
}
[ -n "$(of_timed gpu_scope_between_gpus flag-scope)" ] || { echo "flags of one GPU between GPUs are not seen"; failed=1; }
[ -n "$(of_timed "::counter,")" ] || { echo "nothing is said of the right one"; failed=1; }
[ -z "$(of_timed "::counter," fault:)" ] || { echo "the right one is accused:"; of_timed "::counter,"; failed=1; }

echo "== other projects' barriers: those that order nothing between members are seen"
"$mgsync" audit "$made/peers.so" >"$made/audit" || [ $? = 3 ] || { cat "$made/audit"; exit 1; }
for name in "flags_per_block_of<false>" data_with_epoch; do
  for rule in release acquire; do
    [ -n "$(of_timed "$name" "^ *$rule: nothing")" ] || { echo "$name: $rule is not seen"; failed=1; }
  done
done
for name in "flags_per_block_of<true>" equal_blocks "flags_of_block_0>" "three_state>" "cas_mailbox>" "counter_per_peer>" "sum_to_zero>" \
    "sign_alternating>" "peers::pull>" "dissemination<2u>" "dissemination<4u>"; do
  [ -n "$(of_timed "$name")" ] || { echo "nothing is said of $name"; failed=1; }
  [ -z "$(of_timed "$name" '^ *(release|acquire): nothing')" ] || { echo "$name is accused"; failed=1; }
done

"$mgsync" check "$made/right.so" --scenario members-2 --check-rounds 1000 >"$made/out" || true
if grep -q 'waived: needs a GPU' "$made/out"; then
  expect 4 'nothing could be judged, [0-9]* waived' "$mgsync" check "$made/right.so"
  expect 4 'for GPU members' "$mgsync" --backend "$made/right.so" --members 2 --oversubscribe
  echo "no GPU here: no rounds"
  exit $failed
fi
echo "== rounds on a GPU"
expect 0 'counter: no fault was seen' "$mgsync" check "$made/right.so" --timeout 5s
for scenario in control members-23 unequal-grids; do
  grep -q "$scenario  *passed" "$made/out" || { echo "$scenario was not tried:"; cat "$made/out"; failed=1; }
done
expect 3 'replay  *VIOLATED' "$mgsync" check "$made/all.so:epoch-of-the-launch" --scenario replay --timeout 2s
expect 0 'two-streams  *passed' "$mgsync" check "$made/all.so:counter-of-each-stream" --scenario two-streams --timeout 5s
expect 3 'unequal-grids  *[VS]' "$mgsync" check "$made/all.so:same-grid-everywhere" --scenario unequal-grids --timeout 2s
expect 3 'two-streams  *[VS]' "$mgsync" check "$made/all.so:one-workspace" --scenario two-streams --timeout 2s
expect 3 'replay-alone  *VIOLATED' "$mgsync" check "$made/all.so:grid-id-as-epoch" --scenario alone,replay-alone --timeout 2s
expect 3 'last-absent  *VIOLATED' "$mgsync" check "$made/all.so:gives-up-waiting" --scenario first-absent,last-absent
grep -q 'first-absent  *passed' "$made/out" || { echo "first-absent:"; cat "$made/out"; failed=1; }
expect 0 'dissemination-4: no fault was seen' "$mgsync" check "$made/peers.so:dissemination-4" --scenario held-back,members-11,blocks,replay \
  --check-rounds 4000 --timeout 5s
expect 0 'blocks  *waived' "$mgsync" check "$made/peers.so:equal-blocks" --scenario members-3,blocks --check-rounds 4000 --timeout 5s
expect 3 'held-back  *VIOLATED' "$mgsync" check "$made/peers.so:flags-unordered" --scenario held-back --timeout 5s
expect 0 'right.so:counter' "$mgsync" --backend "$made/right.so" --gpus 1 --max-time 50ms --check-rounds 1000
exit $failed
