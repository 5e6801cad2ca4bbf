#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What wardfs attach draws for a person who joins, how it leaves their terminal, and who answers
# the program's terminal queries.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/run/lib/attach-screen-program.py" program.py
trap '"$WARDFS" kill full 2>/dev/null || :; "$WARDFS" kill lines 2>/dev/null || :; "$WARDFS" kill killed 2>/dev/null || :; "$WARDFS" kill gone 2>/dev/null || :; wait' EXIT
python3 "$WARD_SRC/tests/cases/run/lib/attach-screen.py" || exit 1
