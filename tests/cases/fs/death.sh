#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the daemon under load. Waiting programs get an error, nothing hangs, and the mount
# goes with its namespace. The control: the same load without the kill.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script load <<'END'
i=0
while [ $i -lt $1 ]; do
	i=$((i + 1))
	echo x >f$i || exit 42
	cat f$i >/dev/null || exit 42
	rm f$i || exit 42
done
END
for mode in $MODES; do
	policy
	fresh
	in_mode $mode "$WARD_TMP/load" 400 || fail "$mode: control"
	rm -f "$WARD_TMP/pid"
	rc=0
	case $mode in
	root) opts="-m root -o $OWNER:$OWNER" ;;
	cached) opts="-m root -n -o $OWNER:$OWNER" ;;
	user) opts="-m user -o $OWNER:$OWNER" ;;
	esac
	# shellcheck disable=SC2086
	# Without an end of its own: however late the kill comes, it comes under load.
	"$FSMOUNT" $opts -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" sh "$WARD_TMP/load" 100000000 \
		2>/dev/null &
	run=$!
	n=0
	while ! { [ -s "$WARD_TMP/pid" ] && find "$BACK" -name 'f*' | grep -q .; }; do
		n=$((n + 1))
		[ $n -lt 12000 ] || fail "$mode: does not start"
		sleep 0.005
	done
	kill -9 "$(cat "$WARD_TMP/pid")"
	wait $run || rc=$?
	[ $rc = 42 ] || fail "$mode: after the kill: status $rc"
	if grep -q "$MNT" /proc/self/mountinfo; then fail "$mode: mount left"; fi
done
