#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Named pipes and sockets connect programs inside with each other, never one inside with one on
# the host. The controls: both inside, and both on the host. No rule but `hide` applies to opening
# one; the control is a file under the same rule.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# pipes_of.py DIR: what a program in DIR meets of a pipe and a socket that another has there
cp "$WARD_SRC/tests/cases/fs/lib/pipes_of.py" "$WARD_TMP/pipes_of.py"
# inside: with what the host serves, and what it serves itself
cp "$WARD_SRC/tests/cases/fs/lib/pipes-inside.py" "$WARD_TMP/inside.py"
cp "$WARD_SRC/tests/cases/fs/lib/pipes-host.py" "$WARD_TMP/host.py"
export PYTHONDONTWRITEBYTECODE=1
for mode in $MODES; do
	policy 'deny = /workspace/ruled/denied*' 'hide = /workspace/ruled/hidden*'
	fresh
	as_owner mkdir "$BACK/host" "$BACK/own" "$BACK/ruled"
	as_owner mkfifo "$BACK/ruled/denied" "$BACK/ruled/hidden"
	as_owner touch "$BACK/ruled/denied-file"
	case $mode in
	cached) set -- -m root -n ;;
	*) set -- -m "$mode" ;;
	esac
	# A path of a socket is short: those are relative to where the program is.
	(cd "$BACK/.." && python3 "$WARD_TMP/host.py" "$(basename "$BACK")" "$FSMOUNT" "$@" -o $OWNER:$OWNER -l "$EVENTS" \
		"$POLICY" "$BACK" "$MNT" python3 "$WARD_TMP/inside.py") || fail "$mode"
	recorded '^deny .*path=\[/workspace/ruled/denied-file\]'
	! grep -q 'path=\[/workspace/ruled/denied\]' "$EVENTS" || fail "$mode: a record of a pipe"
done
