#!/bin/bash
# measure_gpus_test.sh MGSYNC: every command of jobs/measure-gpus.sh is one that mgsync carries out: planned, for a described machine of
# one GPU and of two, and one GPU has the parts that are its own. A part that is misspelled is refused.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/mpi/expect.sh
. "$here/../mpi/expect.sh"
root=$here/../.. mgsync=$1
mkdir "$work/bin"

# Shows GPUS GPUs; and mgsync, which plans in place of measuring and writes down what it was asked.
cat >"$work/bin/nvidia-smi" <<'SHIM'
#!/bin/bash
for n in $(seq "$GPUS"); do echo "GPU $n: NVIDIA H200 (UUID: GPU-$n)"; done
SHIM
cat >"$work/bin/mgsync" <<SHIM
#!/bin/bash
[ "\$1" != merge ] || touch "$work/merged"
case \$1 in topology | merge | accept) exit 0 ;; esac
[[ -z \${BROKEN:-} || "\$*" != *"/\$BROKEN.json"* ]] || exit 1
said=\$("$mgsync" "\$@" --dry-run --topology "$root/docs/results/h200x\$GPUS/h200x\$GPUS.machine" 2>&1) || { echo "\$said" | tail -3; exit 1; }
grep -Eq '^[1-9][0-9]* of [0-9]+ points? can run here' <<<"\$said" || { echo "nothing can run: \$*"; exit 1; }
for word; do [ "\$last" = --json ] && echo "\$(basename "\$word" .json)" >>"$work/parts"; last=\$word; done
SHIM
chmod +x "$work"/bin/*
measure() { # GPUS PART...
  GPUS=$1 PATH=$work/bin:$PATH bash "$root/jobs/measure-gpus.sh" "$work/bin/mgsync" "$work/results" here "${@:2}" >"$work/out" 2>"$work/err"
}

measure 2 late no-part
expect_code $? 2 "a part that is none"
expect_text '"no-part" is no part: topology references .* library-rounds$' "$work/err"
passed "a part that is none"

# What needs ranks that plan together is left out.
for gpus in 1 2; do
  rm -f "$work/parts"
  measure "$gpus" topology references barriers grid-barriers inner-barriers library library-forms library-work library-load library-study \
    load-one load-grid peers peers-load-block peers-load-grid work late late-fence batches launch-times launch-arguments launch-policies \
    studies rounds
  expect_code $? 0 "the parts of $gpus GPUs"
  for one in reference-3 barriers peers launch-times launch-policies levels pipeline-cublas library-rounds; do expect_text "^$one\$" "$work/parts"; done
  only_two=$(grep -c -E '^(load-one|load-grid|library-load|late|late-fence)$' "$work/parts")
  only_one=$(grep -c '^peers-load-' "$work/parts")
  [ "$gpus $only_two $only_one" = "1 0 2" ] || [ "$gpus $only_two $only_one" = "2 5 0" ] ||
    fail "$gpus GPUs: $only_two parts of two GPUs, $only_one of one alone"
  passed "$gpus GPUs: $(wc -l <"$work/parts") commands can be carried out"
done

# What an earlier run left of it does not stand in for a part that failed.
mkdir -p "$work/results/here"
echo old | xz >"$work/results/here/load-one.json.xz"
BROKEN=load-one measure 2 load-one load-grid load
expect_code $? 1 "a part that failed"
expect_text '^load-one is missing$' "$work/err"
[ ! -e "$work/merged" ] || fail "an old part was put together with a new one"
passed "a part that failed is not replaced by an older one"
