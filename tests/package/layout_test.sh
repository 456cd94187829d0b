#!/usr/bin/env bash
# All sources are laid out as .clang-format says (`clang-format -i FILE`). Skipped where clang-format 14 is not installed:
# each release lays out a little differently. Usage: layout_test.sh SOURCE_TREE
set -euo pipefail
cd "$1"
for tool in clang-format-14 clang-format; do
  if "$tool" --version 2>/dev/null | grep -q 'version 14\.'; then
    git ls-files -z -- '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.inc' | xargs -0 "$tool" --dry-run -Werror
    exit 0
  fi
done
echo "clang-format 14 is not installed"
exit 77
