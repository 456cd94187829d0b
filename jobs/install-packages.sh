#!/usr/bin/env bash
# Installs what is missing to build and run mgsync on Debian 12 or Ubuntu 24.04, by package name, as root or with sudo.
# What is there already, from wherever, is left alone. Usage: jobs/install-packages.sh [tests] [slurm] [sanitizers]
set -euo pipefail

missing=()

command_from() { # COMMAND PACKAGE
  command -v "$1" >/dev/null 2>&1 || missing+=("$2")
}
header_from() { # HEADER PACKAGE
  command -v g++ >/dev/null 2>&1 && printf '#include <%s>\n' "$1" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 ||
    missing+=("$2")
}
library_from() { # LIBRARY PACKAGE
  command -v g++ >/dev/null 2>&1 && printf 'int main() {}\n' | g++ -x c++ - -o /dev/null "-l$1" >/dev/null 2>&1 ||
    missing+=("$2")
}

command_from g++ g++
command_from cmake cmake
command_from ninja ninja-build
command_from pkg-config pkg-config
command_from mpirun openmpi-bin
command_from mpicxx libopenmpi-dev
header_from hwloc.h libhwloc-dev
library_from boost_program_options libboost-program-options-dev
header_from nlohmann/json.hpp nlohmann-json3-dev
header_from fmt/format.h libfmt-dev

for extra in "$@"; do
  case "$extra" in
    tests)
      header_from gtest/gtest.h libgtest-dev
      header_from relacy/relacy.hpp relacy-dev
      header_from z3++.h libz3-dev
      command_from python3 python3
      python3 -c 'import jsonschema' >/dev/null 2>&1 || missing+=(python3-jsonschema)
      command_from shellcheck shellcheck
      command_from git git
      ;;
    slurm) # a whole Slurm, for tests/jobs: only where somebody asks for it
      PATH=$PATH:/usr/sbin
      command_from slurmctld slurmctld
      command_from slurmd slurmd
      command_from srun slurm-client
      command_from munged munge
      ;;
    sanitizers)
      command_from clang++ clang
      library_from omp5 libomp-dev
      printf 'int main() {}\n' | clang++ -fsanitize=thread -x c++ - -o /dev/null >/dev/null 2>&1 ||
        missing+=(libclang-rt-dev)
      ;;
    *)
      echo "install-packages.sh: '$extra' is none of: tests, slurm, sanitizers" >&2
      exit 2
      ;;
  esac
done

[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || { echo "install-packages.sh: run it as root, or install sudo" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
