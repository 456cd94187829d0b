#!/usr/bin/env bash
# The library by itself, as other projects take it in: its own CMake project, with nothing but a CUDA toolkit; a part of a project
# of somebody else's, which is left as it was; the same types in C++17 and C++20; and of a shared one, no name but what the public
# headers declare. Usage: alone_test.sh CMAKE ROOT CXX TOOLKIT_INCLUDE
set -euo pipefail
cmake=$1 root=$2 cxx=$3 toolkit=$4
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
run() { "$@" >"$place/log" 2>&1 || { cat "$place/log"; echo "failed: $*"; exit 1; }; }

echo "== alone, shared: no package but the toolkit is looked for"
without=()
for package in fmt Boost hwloc OpenMP nlohmann_json MPI LibLZMA PkgConfig NCCL Z3 GTest; do without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
run "$cmake" -S "$root/barriers/library" -B "$place/alone" -DCMAKE_CXX_COMPILER="$cxx" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Debug "${without[@]}"
run "$cmake" --build "$place/alone" -j 2
run "$cmake" --install "$place/alone" --prefix "$place/prefix"
run "$cmake" --install "$place/alone" --prefix "$place/vendored" --component mgsync_headers
[ "$(cd "$place/vendored" && find . -type f | sort)" = "$(cd "$place/prefix" && find . -path './include/*' -type f | sort)" ] ||
  { echo "the headers to vendor are not those that are installed"; exit 1; }
if grep -rn '#include "' "$place/vendored/include"; then echo "a header needs a file that is not installed"; exit 1; fi

echo "== what it exports"
library=$(find "$place/prefix" -name 'libmgsync.so.*.*.*')
names=$(nm -DC --defined-only "$library" | cut -c20-)
others=$(grep -Ev '^(mgsync_[a-z_]+$|mgsync::v1::(multi_grid|multi_grid_memory)::|mgsync::v1::api_error::api_error|(typeinfo|typeinfo name|vtable) for mgsync::v1::(usage|timeout|api|unsupported)_error$)' <<<"$names" || true)
[ -z "$others" ] || { echo "it exports what is nobody's to call:"; echo "$others"; exit 1; }
for name in $(grep -oE '\bmgsync_[a-z_]+\(' "$root/barriers/library/include/mgsync/multi_grid.h" | tr -d '(' | sort -u); do
  grep -qx "$name" <<<"$names" || { echo "it does not export $name"; exit 1; }
done
echo "$(wc -l <<<"$names") names"

echo "== C++17 and C++20"
cat >"$place/types.cpp" <<'CODE'
#include <mgsync/multi_grid.hpp>
void launch(mgsync::multi_grid& grids, void (*kernel)(mgsync::multi_grid_handle, float*), float* data) {
  grids.launch(kernel, 4, 64, 0, {}, data);
  if (grids.gpus() == 0) throw mgsync::api_error("a library", "an error", "doing something");
}
mgsync::multi_grid_memory memory_of(mgsync::multi_grid& grids) { return grids.allocate(64); }
CODE
for standard in 17 20; do
  run "$cxx" -std=c++$standard -Wall -Wextra -Werror -I "$place/prefix/include" -isystem "$toolkit" -c "$place/types.cpp" -o "$place/types$standard.o"
  nm -C "$place/types$standard.o" | grep mgsync | cut -c18- >"$place/types$standard"
done
grep -q "U mgsync::v1::api_error::api_error" "$place/types17" || { cat "$place/types17"; exit 1; }
diff <(grep '^ *U ' "$place/types17") <(grep '^ *U ' "$place/types20") || { echo "C++17 and C++20 call different functions"; exit 1; }

echo "== within another project"
run "$cmake" -S "$root/tests/package/parent" -B "$place/parent" -DMGSYNC_CHECKOUT="$root" -DCMAKE_CXX_COMPILER="$cxx"
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$place/parent/CMakeCache.txt" || { echo "the parent's build type was chosen for it"; exit 1; }
run "$cmake" --build "$place/parent" -j 2
run "$place/parent/host_only"
run "$cmake" --install "$place/parent" --prefix "$place/of_the_parent"
[ ! -e "$place/of_the_parent" ] || { echo "the parent installs what it did not ask for"; find "$place/of_the_parent"; exit 1; }
