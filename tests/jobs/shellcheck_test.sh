#!/bin/bash
# Usage: shellcheck_test.sh ROOT. Every shell script of the repository parses, and shellcheck finds nothing in it.
# First both must find what is wrong in a script that is.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/../mpi/expect.sh"
cd "$1" || exit 1
command -v shellcheck >/dev/null || skip "no shellcheck here: bash jobs/install-packages.sh tests installs it"

# shellcheck disable=SC2016  # the script is to hold it as it is
printf '#!/bin/bash\nrm $1\n' >"$work/careless.sh"
if shellcheck "$work/careless.sh" >/dev/null; then fail "shellcheck finds nothing in a script without quotes"; fi
printf '#!/bin/bash\nif true\n' >"$work/broken.sh"
if bash -n "$work/broken.sh" 2>/dev/null; then fail "bash finds nothing in half an if"; fi

mapfile -t scripts < <(find . -path ./build -prune -o -path ./.git -prune -o -type f \
  -exec grep -lE -e '^#!.*\b(bash|sh)$' -e '^# shellcheck shell=' {} + | sort)
[ "${#scripts[@]}" -ge 15 ] || fail "only ${#scripts[@]} scripts were found"
found=$(printf '%s\n' "${scripts[@]}") # no pipe: grep -q ends at the first match, and who still writes into it then would fail
for each in jobs/*.sh jobs/*.sbatch; do
  grep -qx "./$each" <<<"$found" || fail "$each was not found"
done
for each in "${scripts[@]}"; do bash -n "$each" || fail "$each does not parse"; done
shellcheck -x -P . "${scripts[@]}" || fail "shellcheck finds something"
passed "${#scripts[@]} scripts"
