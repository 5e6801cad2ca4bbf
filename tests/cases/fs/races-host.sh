#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host programs swap a directory of the backing for a symbolic link that leads out, or for another
# directory, while the agent works beneath its name. Nothing outside is seen or touched. The
# control: a program on the host follows the same link.
# timeout: 600
# suites: tsan
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# The link leads somewhere from the backing and nowhere from the mount.
BACK=$WARD_TMP/deep/back
cp "$WARD_SRC/tests/cases/fs/lib/races-host-swap.py" "$WARD_TMP/swap.py"
cp "$WARD_SRC/tests/cases/fs/lib/races-host-inside.py" "$WARD_TMP/inside.py"
script inside <<END
test ! -e ../outside
pids=
for w in 1 2 3; do
	python3 "$WARD_TMP/inside.py" "$WARD_TMP/swaps" &
	pids="\$pids \$!"
done
rc=0
for p in \$pids; do wait \$p || rc=1; done
exit \$rc
END
state_of() { find "$WARD_TMP/deep/outside" -printf '%P %y %m %s %T@ %C@ %n\n' | sort; }
for mode in $MODES; do
	policy
	rm -rf "$WARD_TMP/deep" "$WARD_TMP/stop"
	mkdir "$WARD_TMP/deep"
	fresh
	mkdir -p "$WARD_TMP/deep/outside/deep"
	echo outside >"$WARD_TMP/deep/outside/f" && echo outside >"$WARD_TMP/deep/outside/deep/f"
	chown -R $OWNER:$OWNER "$WARD_TMP/deep/outside"
	as_owner sh -c "cd '$BACK' && mkdir -p d/deep deep && echo inside >d/f && echo inside >d/deep/f &&
		ln -s ../outside link"
	[ "$(as_owner cat "$BACK/link/f")" = outside ] || fail "control: the link"
	before=$(state_of)
	: >"$WARD_TMP/swaps"
	as_owner python3 "$WARD_TMP/swap.py" "$BACK" "$WARD_TMP/stop" >>"$WARD_TMP/swaps" &
	swap=$!
	rc=0
	in_mode $mode "$WARD_TMP/inside" || rc=$?
	: >"$WARD_TMP/stop"
	wait $swap || fail "$mode: the swapping ended"
	[ $rc -eq 0 ] || fail "$mode: inside"
	[ "$before" = "$(state_of)" ] || fail "$mode: changed outside: $before / $(state_of)"
done
