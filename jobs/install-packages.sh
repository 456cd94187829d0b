#!/usr/bin/env bash
# Installs what is missing to build and run mgsync on Debian 12 or Ubuntu 24.04, by package name, as root or with sudo.
# What is there already, from wherever, is left alone. Where nothing can be installed, one sentence names all that is
# missing, as Debian, Spack and conda-forge call it. Usage: jobs/install-packages.sh [tests] [slurm] [sanitizers] [browser] [layout] [shells] [cache]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

missing=() # as the first column of cmake/packages.txt has them

needs_command() { # COMMAND WHAT
  command -v "$1" >/dev/null 2>&1 || missing+=("$2")
}
needs_header() { # HEADER WHAT
  command -v g++ >/dev/null 2>&1 && printf '#include <%s>\n' "$1" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 ||
    missing+=("$2")
}
needs_library() { # LIBRARY WHAT
  command -v g++ >/dev/null 2>&1 && printf 'int main() {}\n' | g++ -x c++ - -o /dev/null "-l$1" >/dev/null 2>&1 ||
    missing+=("$2")
}

needs_command g++ g++
needs_command cmake cmake
needs_command ninja ninja
needs_command pkg-config pkg-config
needs_command mpirun mpirun
needs_command mpicxx mpi
needs_header hwloc.h hwloc
needs_library boost_program_options 'boost program_options'
needs_header nlohmann/json.hpp 'nlohmann json'
needs_header fmt/format.h fmt

for extra in "$@"; do
  case "$extra" in
    tests)
      needs_header gtest/gtest.h googletest
      needs_header relacy/relacy.hpp relacy
      needs_header z3++.h z3
      needs_header lzma.h xz # results that are kept packed
      needs_header lz4.h lz4 # fat binaries that are
      needs_header zstd.h zstd
      needs_command python3 python3
      python3 -c 'import jsonschema' >/dev/null 2>&1 || missing+=(jsonschema)
      python3 -c 'import yaml' >/dev/null 2>&1 || missing+=(yaml)
      needs_command shellcheck shellcheck
      needs_command git git
      ;;
    slurm) # a whole Slurm, for tests/jobs: only where somebody asks for it
      PATH=$PATH:/usr/sbin
      needs_command slurmctld slurmctld
      needs_command slurmd slurmd
      needs_command srun srun
      needs_command munged munge
      ;;
    sanitizers)
      needs_command clang++ clang++
      needs_library omp5 "clang's openmp"
      printf 'int main() {}\n' | clang++ -fsanitize=thread -x c++ - -o /dev/null >/dev/null 2>&1 ||
        missing+=("clang's sanitizers")
      ;;
    browser) # in which the pages of reports are tested (64 MB; Debian has it, Ubuntu does not)
      needs_command chromium-headless-shell 'chromium headless shell'
      ;;
    layout) # of the sources and of the manual page, for who changes them
      needs_command clang-format clang-format
      needs_command mandoc mandoc
      ;;
    shells) # beside bash, in which words are completed
      needs_command zsh zsh
      needs_command fish fish
      ;;
    cache) # of what the compiler made, for who builds several presets
      needs_command ccache ccache
      ;;
    *)
      echo "install-packages.sh: '$extra' is none of: tests, slurm, sanitizers, browser, layout, shells, cache" >&2
      exit 2
      ;;
  esac
done
[ ${#missing[@]} -eq 0 ] && exit 0

debian=() spack=() conda=()
add_names() { # WHAT: its line of cmake/packages.txt
  local what debian_name spack_name conda_name
  while IFS='|' read -r what debian_name spack_name conda_name; do
    if [ "${what% }" = "$1" ]; then
      debian+=("${debian_name// /}")
      # One package of theirs may be several of Debian's.
      case " ${spack[*]} - " in *" ${spack_name// /} "*) ;; *) spack+=("${spack_name// /}") ;; esac
      case " ${conda[*]} - " in *" ${conda_name// /} "*) ;; *) conda+=("${conda_name// /}") ;; esac
      return 0
    fi
  done <"$here/../cmake/packages.txt"
  echo "install-packages.sh: cmake/packages.txt has no line for $1" >&2
  exit 1
}
for what in "${missing[@]}"; do add_names "$what"; done

cannot() { # WHY
  local names
  printf -v names '%s, ' "${missing[@]}"
  echo "install-packages.sh: not here: ${names%, }; $1; Debian and Ubuntu: apt-get install ${debian[*]};" \
    "Spack: spack install ${spack[*]:-(nothing of that)}; conda: conda install -c conda-forge ${conda[*]:-(nothing of that)}" >&2
  exit 1
}
command -v apt-get >/dev/null 2>&1 || cannot "there is no apt-get to install with"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || cannot "only root can install it (there is no sudo)"
  # On a terminal sudo may ask for the password.
  [ -t 0 ] || sudo -n true 2>/dev/null || cannot "only root can install it (sudo asks for a password)"
  as_root=(sudo)
fi

echo "installing ${#missing[@]} packages with apt-get: ${debian[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { # what apt-get has to say shows only where it fails
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$log" 2>&1 && return 0
  cat "$log" >&2
  cannot "apt-get failed (see above)"
}
apt update
echo "installing: the package lists are there; downloading and unpacking ..."
apt install -y --no-install-recommends "${debian[@]}"
echo "installing: done"
