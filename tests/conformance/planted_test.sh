#!/bin/bash
# planted_test.sh PROGRAM FAULT: the program must reject the broken barrier as a user would see it: exit 3, no latency,
# and a sentence that names the backend, the group, the member and the epoch.
set -uo pipefail
program=$1
fault=$2
members=4 shape=1x32 rounds=10000
# On a busy machine a round may take seconds, and that is no fault. Where the fault is that somebody waits for ever, the
# timeout is what the test waits for.
timeout=60s
case "$fault" in
  never-released | hangs | counter-reset-too-early) timeout=5s ;;
  broken-above-four) members=3,6 ;;
  butterfly-skips-peers) members=4,6 ;;
  epoch-is-not-atomic) shape=2x32 timeout=5s ;;
  # 528 workers: fewer rounds than the default has, since each takes milliseconds on two cores.
  one-edge-of-all | once-in-5000-one-short) members=8 shape=66x32 rounds=3200 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAIL: planted:$fault: $*" >&2
  sed 's/^/  | /' "$work/out" "$work/err" "$work/json" >&2 2>/dev/null
  exit 1
}

"$program" --device host --backend "planted:$fault" --members "$members" --shape "$shape" --oversubscribe \
  --check-rounds "$rounds" --timeout "$timeout" --max-time 200ms --json "$work/json" >"$work/out" 2>"$work/err" &
pid=$!
timeout 600 tail -s 0.1 --pid="$pid" -f /dev/null
if kill -0 "$pid" 2>/dev/null; then
  echo "Its threads, and who traces it (a sanitizer that looks for leaks does):"
  for task in /proc/"$pid"/task/* $(pgrep -P "$pid" | sed 's|^|/proc/|'); do
    grep -sE '^(Name|State|Pid|TracerPid|SigPnd|ShdPnd):' "$task/status" | tr '\n\t' '  '
    echo "in $(cat "$task/wchan" 2>/dev/null), system call $(cat "$task/syscall" 2>/dev/null)"
  done
  kill -9 "$pid"
  fail "has not ended after 600 s"
fi
wait "$pid"
code=$?
[ "$code" -eq 3 ] || fail "exit code $code, expected 3"

group='{0,1,2,3}'
[[ "$members" == *,6 ]] && group='{0,1,2,3,4,5}'
[ "$members" = 8 ] && group='{0,1,2,3,4,5,6,7}'
sentence=$(grep -F "planted" "$work/err" | grep -v '^mgsync 0' | head -n 1)
case "$fault" in
  never-released)
    pattern="did not arrive: member 1 " ;;
  hangs)
    # The watchdog says this, while the run itself cannot return.
    pattern="did not arrive at round [0-9]+: member 1 " ;;
  counter-reset-too-early | epoch-is-not-atomic)
    # An arrival that the reset wipes out leaves everybody waiting; so does who ran ahead to the end.
    pattern="member [0-9]+ block [0-9]+ .*epoch 0x|stuck: .*at epoch [1-9]" ;;
  *)
    [[ "$sentence" == *"not a barrier: "* ]] || fail "nothing says that it is not a barrier"
    pattern="member [0-9]+ block [0-9]+ .*epoch 0x" ;;
esac
[[ "$sentence" =~ $pattern ]] || fail "no sentence with '$pattern'"
[[ "$sentence" == *"planted:$fault"* ]] || fail "the sentence does not name planted:$fault"
[[ "$sentence" == *"$group"* ]] || fail "the sentence does not name the group $group"
[[ "$sentence" =~ (epoch|round)\ [0-9] ]] || fail "the sentence does not name the epoch"

failed=$(grep -c '"status": "failed"' "$work/json")
[ "$failed" -eq 1 ] || fail "$failed failed results in the document, expected 1"
measured=$(grep -c '"median": [0-9]' "$work/json")
expected=0
[[ "$members" == *,6 ]] && expected=1  # the smaller group passes, and only it has a latency
[ "$measured" -eq "$expected" ] || fail "$measured latencies in the document, expected $expected"
[ "$(grep -cw pass "$work/out")" -eq "$expected" ] || fail "the table says pass"
