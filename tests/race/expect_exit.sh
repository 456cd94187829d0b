#!/bin/bash
# expect_exit.sh CODE COMMAND...: passes when the command ends with exactly this code.
set -uo pipefail
wanted=$1
shift
"$@"
code=$?
if [ "$code" -ne "$wanted" ]; then
  echo "exit code $code, expected $wanted" >&2
  exit 1
fi
