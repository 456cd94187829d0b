#!/usr/bin/env bash
# Compiles what the library's users get, and the backends' algorithms, to PTX, for an architecture with full fences, for one with fences of one direction
# and for the next: tests/order/*.ptx, which the tests of the memory order ask about. Needs nvcc 13.0.
#   tests/order/make_ptx.sh           writes the files anew
#   tests/order/make_ptx.sh --check   says whether they are what the sources compile to; 77: there is no nvcc 13.0
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export PATH="$PATH:/usr/local/cuda/bin"
nvcc --version 2>/dev/null | grep -q 'release 13\.0' || { echo "no nvcc 13.0 here"; exit 77; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
status=0
compile() { # SOURCE ARCHITECTURE
  local file=$1_$2.ptx
  nvcc -std=c++17 -O3 --expt-relaxed-constexpr -ptx -arch="compute_$2" -I "$root" \
    -I "$root/barriers/library/include" -o "$made/raw" "$here/$1.cu"
  # What says nothing of the code: comments and blank lines.
  sed -e 's#^[[:space:]]*//.*##' -e 's/^\t//' -e 's/[[:space:]]*$//' -e '/^$/d' "$made/raw" > "$made/$file"
  if [ "${mode:-}" != --check ]; then cp "$made/$file" "$here/$file"
  elif ! cmp -s "$made/$file" "$here/$file"; then
    echo "tests/order/$file is not what $1.cu compiles to: run tests/order/make_ptx.sh"
    status=1
  fi
}
mode=${1:-}
for architecture in 80 90 100; do compile two_rounds "$architecture"; done
compile backends 90
exit $status
