#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# Where the trail lies: what cannot be written starts nothing; never where the agent sees it.
. "$WARD_SRC/tests/cases/lib.sh"
project p
cd p || exit 1

# A place that cannot be written (a file stands where the directory should be).
touch "$WARD_TMP/notadir"
XDG_STATE_HOME=$WARD_TMP/notadir expect 125 "$WARDFS" run -- touch started
[ ! -e started ] || fail "ran without a trail"
# Control: elsewhere it runs.
XDG_STATE_HOME=$WARD_TMP/state2 expect 0 "$WARDFS" run -- touch started
[ -e started ] || fail "did not run"
rm started

# Below the tree: the agent would see its own trail.
XDG_STATE_HOME=$PWD/.state expect 125 "$WARDFS" run -- touch started
has "$ERR" "XDG_STATE_HOME"
[ ! -e started ] || fail "ran with its trail in the tree"

# A session name that exists gets a number.
expect 0 "$WARDFS" run --session twice -- sh -c 'echo $WARDFS_SESSION'
has "$OUT" twice
expect 0 "$WARDFS" run --session twice -- sh -c 'echo $WARDFS_SESSION'
has "$OUT" twice.2
expect 0 "$WARDFS" audit verify --all
exit 0
