#!/usr/bin/env bash
# Asks every rung of the ladder of docs/memory-order.md and every weakened twin, and writes a row of each. The
# page's table is drawn from the rows by docs/draw.py.
#   nice tests/order/ladder.sh build/host > docs/results/host2/memory-order.csv     # half an hour of one core
set -euo pipefail
build=$(cd "${1:?usage: ladder.sh BUILD}" && pwd)
echo form,architecture,twin,rung,gpus,blocks,threads,events,questions,answered,answer,cpu_seconds
for test in sync_order_test backends_order_test; do
  "$build/tests/order/$test" --gtest_also_run_disabled_tests --gtest_filter='ladder*:*twin*:*weakened*' |
    sed --unbuffered -n 's/^row://p'
done
