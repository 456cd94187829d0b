#!/usr/bin/env bash
# said_of_failed.sh BUILD...: what the tests that failed in the last run of ctest in these build folders complained of, in
# few lines each: a log of hundreds of tests is read from its end, where ctest writes names.
set -euo pipefail
for build in "$@"; do
  log=$build/Testing/Temporary/LastTest.log failed=$build/Testing/Temporary/LastTestsFailed.log
  # ctest leaves the second where all tests of a later run passed.
  if [ ! -s "$failed" ] || [ "$log" -nt "$failed" ]; then continue; fi
  while IFS=: read -r _ name; do
    echo "== $name failed in $build"
    said=$(awk -v name="$name" '$2 == "Test:" { of_it = substr($0, index($0, ": ") + 2) == name }
      /^<end of output>/ { at = 0 } at && !/^-+$/ { print } of_it && /^Output:$/ { at = 1; of_it = 0 }' "$log")
    grep -m 3 -A 8 -E 'FAIL:|Failure$|AssertionError|ERROR: |WARNING: ' <<<"$said" || tail -n 8 <<<"$said"
  done <"$failed"
done
