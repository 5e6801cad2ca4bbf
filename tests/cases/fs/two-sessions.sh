#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two sessions of one project move directories at the same time. One makes a directory the one of
# which a rule gives more, the other moves a directory with a secret into it, as it knew it a
# moment ago. Neither may read the secret then, whoever comes first. Controls: each move alone
# succeeds, and without the file that the sessions share the secret is read.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/two-sessions.py" "$WARD_TMP/two.py"
chmod 755 "$WARD_TMP/two.py"

# both MODE WHAT: both sessions, with a file of their owner's and two pipes between them
both() {
	mode=$1
	what=$2
	rm -rf "$MNT.2" "$WARD_TMP/there" "$WARD_TMP/answer"
	mkdir "$MNT.2"
	mkfifo "$WARD_TMP/there" "$WARD_TMP/answer"
	(MNT=$MNT.2 && in_mode "$mode" -c "exec python3 '$WARD_TMP/two.py' second $what" \
		<"$WARD_TMP/there" >"$WARD_TMP/answer") 2>"$WARD_TMP/said" &
	second=$!
	(in_mode "$mode" -c "exec python3 '$WARD_TMP/two.py' first $what" \
		>"$WARD_TMP/there" <"$WARD_TMP/answer") 2>>"$WARD_TMP/said" && r=0 || r=1
	wait $second || r=1
	return $r
}

# secrets: a project with a secret, and a directory that is looked through before it moves
secrets() {
	fresh
	as_owner sh -c "cd '$BACK' && mkdir -p p/certs d/full && echo secret >p/certs/pub.pem &&
		cd d/full && seq 6000 | xargs touch"
}

policy 'hide = *.pem' 'write = /workspace/a/certs/pub.pem'
for mode in $MODES; do
	FSMOUNT_MOVES=$WARD_TMP/moves-$mode
	export FSMOUNT_MOVES
	: >"$FSMOUNT_MOVES"
	chmod 666 "$FSMOUNT_MOVES"
	for what in alone turns race; do
		secrets
		both "$mode" $what || fail "$mode, $what: $(cat "$WARD_TMP/said")"
	done
	unset FSMOUNT_MOVES
	secrets
	! both "$mode" turns || fail "$mode: control: nothing is read without the file"
	grep -q 'the secret is read' "$WARD_TMP/said" || fail "$mode: control: $(cat "$WARD_TMP/said")"
done
