#!/usr/bin/env bash
# Installs a build into a folder of its own and uses it as its users would: the program; with CUDA the library, by CMake,
# by pkg-config with plain nvcc, and from C. Usage: install_test.sh CMAKE BUILD CXX [NVCC]
set -euo pipefail
cmake=$1 build=$2 cxx=$3 nvcc=${4:-}
consumer=$(cd "$(dirname "$0")/consumer" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
prefix=$place/prefix

"$cmake" --install "$build" --prefix "$prefix" >"$place/log" || { cat "$place/log"; exit 1; }
"$prefix/bin/mgsync" --version
for part in mgsync compiler CUDA NCCL MPI OpenMP hwloc; do
  "$prefix/bin/mgsync" -V | grep -q "^$part ." || { echo "--version says nothing of $part"; exit 1; }
done
for page in share/man/man1/mgsync.1 share/bash-completion/completions/mgsync share/zsh/site-functions/_mgsync \
  share/fish/vendor_completions.d/mgsync.fish; do
  [ -s "$prefix/$page" ] || { echo "$page is not installed"; exit 1; }
done
# The installed program finds the reference results that came with it.
(cd "$place" && "$prefix/bin/mgsync" compare --reference "$consumer/../../../docs/results/h200x4/load.json.xz" >"$place/log" &&
  grep -q "^This node is normal" "$place/log" && grep -q "$prefix/share/mgsync/reference/h200x4/" "$place/log") || { cat "$place/log"; echo "no reference results were found"; exit 1; }
# What the pages name by its place in the source tree is found by who has the installed program alone.
if (cd "$place" && "$prefix/bin/mgsync" advise docs/results/h200x4/barriers.json.xz --gpus 4 2>"$place/log") || \
  ! grep -q "accepted: $prefix/share/mgsync/reference/h200x4/barriers.json.xz" "$place/log"; then
  cat "$place/log"; echo "a reference that is elsewhere is not named"; exit 1
fi
echo "== the first barrier of docs/check.md, as it is printed"
# shellcheck disable=SC2016  # Markdown's backticks
sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$consumer/../../../docs/check.md" >"$place/counted.cpp"
[ "$(grep -c . "$place/counted.cpp")" -le 20 ] || { echo "it has more than 20 lines"; exit 1; }
"$cxx" -std=c++17 -O2 -Wall -Wextra -Wpedantic -Wshadow -Werror -shared -fPIC -I "$prefix/include" "$place/counted.cpp" -o "$place/counted.so"
if command -v python3 >/dev/null; then
  echo "== docs/check.md, typed"
  python3 "$(dirname "$0")/check_page.py" "$consumer/../../../docs/check.md" "$prefix" "$cxx" ${nvcc:+"$nvcc"}
fi
# shellcheck disable=SC2016  # Markdown's backticks
sed -n '/^```cuda$/,/^```$/{/^```/d;p}' "$consumer/../../../docs/library.md" >"$place/hello.cu"
[ "$(grep -c . "$place/hello.cu")" -le 20 ] || { echo "the first program of docs/library.md has more than 20 lines"; exit 1; }
if [ -z "$nvcc" ]; then
  [ ! -e "$prefix/include/mgsync/multi_grid.hpp" ] || { echo "headers without a library"; exit 1; }
  echo "this build has no CUDA: the program is installed, and there is no library to consume"
  exit 0
fi

# What was installed names nothing of the machine that built it but the CUDA toolkit.
if grep -rqF "$build" "$prefix/include" "$prefix/lib"*/cmake "$prefix/lib"*/pkgconfig; then
  echo "an installed file names the build folder"; exit 1
fi

# A program that finds no GPU says so and leaves with 77.
run() {
  local status=0
  "$@" || status=$?
  [ "$status" = 0 ] || [ "$status" = 77 ] || { echo "$* failed: $status"; exit 1; }
}

echo "== find_package(mgsync CONFIG)"
"$cmake" -S "$consumer" -B "$place/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CUDA_ARCHITECTURES=90 \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CUDA_COMPILER="$nvcc" >"$place/log" || { cat "$place/log"; exit 1; }
"$cmake" --build "$place/cmake" >"$place/log" || { cat "$place/log"; exit 1; }
run "$place/cmake/consumer"
run "$place/cmake/host_only"

echo "== a kernel without the handle is refused by the compiler"
if "$nvcc" -std=c++17 -arch=sm_90 -I "$prefix/include" -c "$consumer/wrong_kernel.cu" -o "$place/wrong.o" >"$place/log" 2>&1; then
  echo "it compiled"; exit 1
fi
grep -q "first parameter must be mgsync::multi_grid_handle" "$place/log" || { cat "$place/log"; exit 1; }

echo "== the first program of docs/library.md, as it is printed"
[ -e "$prefix/lib/libmgsync.a" ] && "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings "$place/hello.cu" -I "$prefix/include" -L "$prefix/lib" -lmgsync -o "$place/hello" &&
  run "$place/hello"
echo "== a group of a temporary handle is refused by the compiler"
if "$nvcc" -std=c++17 -arch=sm_90 -I "$prefix/include" -c "$consumer/temporary_handle.cu" -o "$place/wrong.o" >"$place/log" 2>&1; then
  echo "it compiled"; exit 1
fi
[ "$(grep -c "error.*deleted" "$place/log")" = 2 ] || { cat "$place/log"; exit 1; }

echo "== plain nvcc, C++17, every architecture that this compiler has"
for arch in 70 75 80 90 100; do
  grep -qx "compute_$arch" <<<"$("$nvcc" --list-gpu-arch)" || continue
  "$nvcc" -std=c++17 -arch="sm_$arch" -Werror all-warnings -Xcompiler -Wall,-Wextra,-Wshadow \
    -I "$prefix/include" -c "$consumer/device_only.cu" -o "$place/device.o"
  echo "sm_$arch"
done

command -v pkg-config >/dev/null || { echo "no pkg-config here: mgsync.pc was not tried"; exit 0; }
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name mgsync.pc)")
echo "== pkg-config and nvcc"
read -ra flags <<<"$(pkg-config --cflags --libs mgsync)"
"$nvcc" -std=c++17 -arch=sm_90 "$consumer/consumer.cu" "${flags[@]}" -o "$place/by_pkg_config"
libraries=$(dirname "$PKG_CONFIG_PATH")
if [ -e "$libraries/libmgsync.so" ]; then
  # The program's kernels are registered with the runtime that the library asks for them.
  own=$(nm "$place/by_pkg_config" | grep -c ' [tT] __cudaRegisterFunction$' || true)
  [ "$own" = 0 ] || { echo "the program has a CUDA runtime of its own, beside that of a shared mgsync"; exit 1; }
  export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
run "$place/by_pkg_config"
echo "== pkg-config and C"
read -ra flags <<<"$(pkg-config --cflags --libs --static mgsync)"
"${CC:-cc}" "$consumer/in_c.c" "${flags[@]}" -o "$place/in_c"
run "$place/in_c"
