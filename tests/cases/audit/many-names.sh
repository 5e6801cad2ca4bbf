#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command chooses how many names one file had. verify follows thousands, and says when it
# stops following.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir p && cd p && git init -q .
cp "$WARD_SRC/tests/cases/audit/lib/many-names.py" names.py
expect 0 "$WARDFS" run --session some --policy medium -- python3 names.py 1500
expect 0 "$WARDFS" audit file /workspace/main.c some
has "$OUT" /workspace/t1499
expect 0 "$WARDFS" run --session many --policy medium -- python3 names.py 10100
expect 125 "$WARDFS" audit file /workspace/main.c many
has "$ERR" 'more than 10000 names'
has "$ERR" 'audit show --path'
expect 0 "$WARDFS" audit show --path /workspace/t10099 many
has "$OUT" /workspace/t10099
