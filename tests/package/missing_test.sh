#!/usr/bin/env bash
# missing_test.sh ROOT CMAKE: on a machine where nothing can be installed, one sentence names all that is missing, as
# Debian, Spack and conda call it: by jobs/install-packages.sh, and by CMake. The machines are pretended: a PATH of links.
set -uo pipefail
root=$1 cmake=$2
# shellcheck source=tests/mpi/expect.sh
. "$root/tests/mpi/expect.sh"

# A machine with these commands and no other.
machine() { # NAME COMMAND...
  local bin=$work/$1 command at
  shift
  mkdir -p "$bin"
  for command in bash sh env id dirname cat mktemp rm cut "$@"; do
    if at=$(command -v "$command"); then ln -sf "$at" "$bin/$command"; fi
  done
}
# The sentence that the script ends with there. It is the only thing said.
sentence() { # NAME ARGUMENTS...
  local bin=$work/$1
  shift
  PATH=$bin "$bin/bash" "$root/jobs/install-packages.sh" "$@" >"$work/out" 2>"$work/err"
  expect_code $? 1 "a machine without packages"
  [ ! -s "$work/out" ] || fail "something is said beside the sentence"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one sentence"
}

# Boost's headers are there, its library is not.
machine boost cmake ninja pkg-config mpirun mpicxx as ld
cat >"$work/boost/g++" <<COMPILER
#!$(command -v bash)
case "\$*" in *-lboost_program_options*) echo "cannot find -lboost_program_options" >&2; exit 1 ;; esac
exec $(command -v g++) "\$@"
COMPILER
chmod +x "$work/boost/g++"
sentence boost
expect_text '^install-packages.sh: not here: boost program_options; there is no apt-get' "$work/err"
expect_text 'apt-get install libboost-program-options-dev; Spack: spack install boost\+program_options; conda: .* libboost-devel$' \
  "$work/err"
passed "Boost's headers without program_options: $(cat "$work/err")"

# Nothing is there: every name has its line in cmake/packages.txt.
machine bare
sentence bare tests slurm sanitizers browser
for name in g++ ninja-build libopenmpi-dev libhwloc-dev nlohmann-json3-dev libgtest-dev libomp-dev nlohmann-json libhwloc; do
  expect_text " ${name//+/\\+}[ ;]" "$work/err"
done
passed "nothing there: all is named at once"

# The first line of the README's first command says what was found, before the sentence.
machine nothing nproc grep sed
PATH=$work/nothing "$work/nothing/bash" "$root/jobs/local.sh" >"$work/out" 2>"$work/err"
expect_code $? 1 "jobs/local.sh on a machine without packages"
expect_text '^jobs/local.sh: found no GPU (\(but a CUDA [0-9.]+ toolkit\) )?and [0-9]+ CPU\(s\): the barriers of host threads' "$work/out"
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "jobs/local.sh goes on without packages"
expect_text '^install-packages.sh: not here: g\+\+, cmake' "$work/err"
passed "$(head -n 1 "$work/out")"

# Not root, and sudo that asks for a password.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  machine sudo apt-get
  printf '#!%s\nexit 1\n' "$(command -v bash)" >"$work/sudo/sudo"
  chmod +x "$work/sudo/sudo"
  chmod 755 "$work"
  mkdir -p "$work/readable/jobs" "$work/readable/cmake"
  cp "$root/jobs/install-packages.sh" "$work/readable/jobs"
  cp "$root/cmake/packages.txt" "$work/readable/cmake"
  PATH=$work/sudo "$(command -v setpriv)" --reuid 65534 --regid 65534 --clear-groups \
    "$work/sudo/bash" "$work/readable/jobs/install-packages.sh" >"$work/out" 2>"$work/err" </dev/null
  expect_code $? 1 "sudo with a password"
  expect_text 'only root can install it \(sudo asks for a password\); Debian and Ubuntu: apt-get install g\+\+ cmake ' "$work/err"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one sentence"
  passed "sudo that asks for a password where nobody can type it"
fi

# The same by CMake, for those who build by themselves.
mkdir -p "$work/prefix/include"
boost=$(echo '#include <boost/version.hpp>' | g++ -x c++ -E -M - 2>/dev/null | grep -o '[^ ]*/boost/version.hpp' | head -n 1)
[ -n "$boost" ] || skip "no headers of Boost here, to be without the library"
ln -s "$(dirname "$boost")" "$work/prefix/include/boost"
configure() { # OPTIONS...
  "$cmake" -S "$root" -B "$work/build" -G Ninja -DMGSYNC_CUDA=OFF -DMGSYNC_TESTS=OFF -DBOOST_ROOT="$work/prefix" \
    -DBoost_NO_SYSTEM_PATHS=ON -DBoost_NO_BOOST_CMAKE=ON "$@" >"$work/out" 2>"$work/err"
}
configure -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON
expect_code $? 1 "CMake without Boost's library"
[ "$(grep -c 'CMake Error' "$work/err")" -eq 1 ] || fail "not one error"
said=$(tr -s ' \n' ' ' <"$work/err")
echo "$said" >"$work/err"
expect_text 'mgsync needs what was not found here: nlohmann json, boost program_options \(Debian and Ubuntu: nlohmann-json3-dev libboost-program-options-dev; Spack: nlohmann-json boost\+program_options; conda-forge: nlohmann_json libboost-devel\)' \
  "$work/err"
passed "CMake says the same"
