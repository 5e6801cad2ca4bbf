#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On a terminal, anything that takes longer than a second shows its progress and removes the line
# at its end. Elsewhere it prints nothing. A tracer makes it slow, so the test waits for nothing
# that a fast machine would not show.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v strace >/dev/null || skip "no strace"
project p
cd p || exit 1
strace -o /dev/null true 2>/dev/null || skip "nothing can be traced here"
expect 0 "$WARDFS" run -- sh -c 'mkdir ~/c && cd ~/c && touch $(seq 600)'
expect 0 "$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$XDG_STATE_HOME/wardfs" \
	--session many --events 6000
{
	printf '[policy]\nversion = 1\nextends = medium\n[files]\n'
	seq 100 | sed 's,.*,deny = /workspace/d&/*.x&,'
} >../many.policy
mkdir ../names
(cd ../names && touch $(seq 200) && mkdir d9 && touch d9/a.x9)
python3 "$WARD_SRC/tests/cases/run/lib/progress.py" || fail "on a terminal"
expect 0 "$WARDFS" home list
[ -z "$OUT" ] || fail "not cleared: $OUT"

# The controls: as slow without a terminal, and on one but quick, nothing is said.
expect 0 "$WARDFS" run -- sh -c 'mkdir ~/c && cd ~/c && touch $(seq 300)'
expect 0 strace -f -o /dev/null -e trace=unlinkat -e inject=unlinkat:delay_enter=5000 "$WARDFS" home clear
hasnt "$OUT$ERR" "clearing a home:"
expect 1 strace -f -o /dev/null -e trace=newfstatat -e inject=newfstatat:delay_enter=10000 "$WARDFS" policy diff --tree ../names medium ../many.policy
has "$OUT" "/workspace/d9/a.x9: -"
hasnt "$OUT$ERR" "comparing:"
exit 0
