#!/usr/bin/env bash
# Publishes what jobs/measure-gpus.sh measured of a machine: packs each raw file into docs/results without names of hosts, says in that
# folder's moved.txt.xz what moved since the file that it replaces, and adds the checked rounds to the ledger. Then the documents are
# to be drawn (docs/draw.py), and what moved and why to be said in docs/results/moved.md.
# Usage: docs/publish.sh MGSYNC FOLDER/NAME   (NAME: a folder of docs/results, as "h200x2"; MGSYNC may be one without CUDA)
set -euo pipefail
if [ $# -ne 2 ] || [ ! -d "${2:-}" ]; then
  echo "usage: $0 MGSYNC FOLDER/NAME, the folder that jobs/measure-gpus.sh wrote" >&2
  exit 2
fi
mgsync=$(realpath "$1") raw=$(realpath "$2") name=$(basename "$2")
cd "$(dirname "$0")/.."
parts=' load-one load-grid launch-times launch-arguments launch-policies ' # load and launch put them together
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/raw" "docs/results/$name"

shopt -s nullglob
for file in "$raw"/*.json "$raw"/*.json.xz; do
  what=$(basename "${file%.xz}" .json)
  case $file in *.xz) xz -dkc "$file" ;; *) cat "$file" ;; esac >"$work/raw/$what.json"
  [[ $parts != *" $what "* ]] || continue
  if ! grep -q '"ended": "complete"' "$work/raw/$what.json"; then
    echo "$0: $what was cut short, and is left out" >&2
    rm "$work/raw/$what.json"
    continue
  fi
  packed=docs/results/$name/$what.json.xz code=0
  rm -f "$work/new.json"
  # Its exit code tells of the points: 3 where one failed, 4 where all are waived.
  (cd "$work/raw" && "$mgsync" merge "$what.json" --anonymous --json "$work/new.json" >/dev/null) || code=$?
  [ -e "$work/new.json" ] || { echo "$0: $what cannot be published (exit code $code)" >&2; exit 1; }
  if [ -e "$packed" ]; then
    xz -dkc "$packed" >"$work/old.json"
    ! cmp -s "$work/old.json" "$work/new.json" || continue # it was published before
    {
      echo "== $name/$what"
      "$mgsync" compare --across machines "$work/old.json" "$work/new.json" 2>&1 || echo "exit code $?"
      echo
    } | sed "s#$work/\(old\|new\).json#$packed#g" >>"$work/moved.txt"
  fi
  xz -9efc "$work/new.json" >"$packed"
done
if [ -e "$work/moved.txt" ]; then
  xz -9efc "$work/moved.txt" >"docs/results/$name/moved.txt.xz"
  grep -E '^(== |[0-9]+ (slower|worse)|exit code)' "$work/moved.txt"
fi
if [ -e "$raw/topology.txt" ]; then sed "1s/^Machine [^ ]*/Machine $name/" "$raw/topology.txt" >"docs/results/$name/topology.txt"; fi
if [ -e "$raw/accept.jsonl" ]; then # those that are not there yet
  touch "docs/results/$name/accept.jsonl"
  new=$(grep -vxFf "docs/results/$name/accept.jsonl" "$raw/accept.jsonl" || true)
  [ -z "$new" ] || echo "$new" >>"docs/results/$name/accept.jsonl"
fi

# Its rounds are counted from what was measured, not from what was put together of it.
rm -f "$work/raw/load.json" "$work/raw/launch.json"
files=("$work/raw"/*.json)
if [ ${#files[@]} -gt 0 ]; then
  xz -dkc docs/results/ledger.jsonl.xz >"$work/ledger.jsonl"
  "$mgsync" ledger "${files[@]}" --into "$work/ledger.jsonl" >/dev/null || [ $? -eq 4 ] # 4: no rounds in any of them
  xz -9efc "$work/ledger.jsonl" >docs/results/ledger.jsonl.xz
fi
echo "published in docs/results/$name; now: python3 docs/draw.py $mgsync"
