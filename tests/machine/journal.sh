#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The journal as anchor: it has the first and the last checkpoint of each session by default, and
# all of them if the policy asks. With these, verify notices that a whole session is gone.
# serial
# timeout: 300
set -eu
. "$WARD_SRC/tests/machine/lib/machine.sh"
home "$WARD_TMP/user"
since=$(date +%s)

# anchored SESSION: how many of its checkpoints the journal has
anchored() {
	journalctl --sync
	journalctl -q -o cat --since "@$since" _UID=1000 "WARDFS_SESSION=$1" |
		grep -c "checkpoint of session $1 over [0-9]* records" || [ $? -eq 1 ]
}

owner "$WARD_TMP/user" 'mkdir p && cd p && git init -q .
	expect 0 "$WARDFS" run --session one -- touch a
	expect 0 "$WARDFS" audit show -v one
	has "$OUT" "\"anchor_unasked\":\"journald\""
	printf "[policy]\nversion = 1\nextends = medium\n[audit]\nanchor = journald\ncheckpoint = 20\n" >../often.policy
	expect 0 "$WARDFS" run --session two --policy ../often.policy -- sh -c "for i in \$(seq 60); do : >f\$i; done"
	cp -a "$HOME/.local/state/wardfs" "$HOME/old"
	expect 0 "$WARDFS" run --session three -- touch b' || fail "sessions"
[ "$(anchored one)" -eq 2 ] || fail "one: $(anchored one)"
[ "$(anchored two)" -gt 4 ] || fail "two: $(anchored two)"
[ "$(anchored three)" -eq 2 ] || fail "three: $(anchored three)"

# As the manual says.
journalctl -q --since "@$since" -t wardfs _UID=1000 -o cat --output-fields=WARDFS_CHECKPOINT \
	>"$WARD_TMP/user/journal"
owner "$WARD_TMP/user" 'cd p
	expect 0 "$WARDFS" audit verify --all --checkpoints ../journal
	# The owner puts back the state from before the last session. Nothing in the state tells.
	rm -rf "$HOME/.local/state/wardfs"
	mv "$HOME/old" "$HOME/.local/state/wardfs"
	expect 0 "$WARDFS" audit verify --all
	expect 1 "$WARDFS" audit verify --all --checkpoints ../journal
	has "$OUT" three' || fail "verify: $(head -c 2000 "$WARD_TMP/user/journal")"
