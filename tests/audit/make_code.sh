#!/usr/bin/env bash
# Compiles barriers.cu to what audit_test reads, barriers_90.ptx and barriers_90.cubin, and contract.cu to
# contract_90.ptx, the kernels that `audit --model` asks about, and packed.cu to two compressed fat binaries. Needs nvcc 13.0.
#   tests/audit/make_code.sh           writes the files anew
#   tests/audit/make_code.sh --check   says whether they are what the source compiles to; 77: there is no nvcc 13.0
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH="$PATH:/usr/local/cuda/bin"
nvcc --version 2>/dev/null | grep -q 'release 13\.0' || { echo "no nvcc 13.0 here"; exit 77; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cd "$here"
root=../..
compile() { # SOURCE
  nvcc -std=c++17 -O3 -ptx -arch=compute_90 -I "$root" -I "$root/barriers/library/include" -o "$made/raw" "$1.cu"
  if [ "$1" = contract ]; then # of which that is all
    sed -i -n -e '1,/^\.address_size/p' -e '/entry .*asked_rounds/,/^}/p' "$made/raw"
  fi
  # What says nothing of the code: comments and blank lines.
  sed -e 's#^[[:space:]]*//.*##' -e 's/^\t//' -e 's/[[:space:]]*$//' -e '/^$/d' "$made/raw" > "$made/$1_90.ptx"
}
compile barriers
compile contract
(cd "$made" && ptxas -arch=sm_90 -O3 -o barriers_90.cubin barriers_90.ptx)
pack() { # HOW MODE
  nvcc -fatbin -gencode 'arch=compute_90,code=[sm_90,compute_90]' -Xfatbin -compress-all --compress-mode="$2" -o "$made/packed_$1.fatbin" packed.cu
}
pack lz4 speed
pack zstd size
status=0
for file in barriers_90.ptx barriers_90.cubin contract_90.ptx packed_lz4.fatbin packed_zstd.fatbin; do
  if [ "${1:-}" != --check ]; then cp "$made/$file" "$here/$file"
  elif ! cmp -s "$made/$file" "$here/$file"; then
    echo "tests/audit/$file is not what its source compiles to: run tests/audit/make_code.sh"
    status=1
  fi
done
exit $status
