#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trail records the end of every file that is open when the last process ends, although the
# kernel drops its pending requests with the mount.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script ends <<END
daemon=\$(cat "$WARD_TMP/pid")
echo \$\$ >me
exec 3<held
# From here nothing is heard; closing a file that was only read waits for no answer.
if [ "\$1" = stop ]; then kill -STOP \$daemon; fi
exit 0
END
# ended FILE: the process whose number stands there is gone. Over io_uring its end, which ends the
# mount, waits for a request that is on its way to a thread that does not run: then it is on its way
# out (PF_EXITING of include/linux/sched.h, in the ninth field of its stat).
server_ended() {
	[ -s "$1" ] || return 1
	stat=$(cat "/proc/$(cat "$1")/stat" 2>/dev/null) || return 0
	[ "${WARD_TRANSPORT-}" = io_uring ] && [ "$how" = stop ] || return 1
	# shellcheck disable=SC2086 # the fields
	set -- ${stat##*) }
	[ $(($7 & 4)) != 0 ]
}
policy
for mode in $MODES; do
	case $mode in
	root) opts="-m root" ;;
	cached) opts="-m root -n" ;;
	user) opts="-m user" ;;
	esac
	# the control: the daemon hears all there is to hear
	for how in go stop; do
		fresh
		rm -f "$WARD_TMP/pid"
		as_owner sh -c "umask 022; echo x >'$BACK/held'"
		# shellcheck disable=SC2086
		"$FSMOUNT" $opts -o $OWNER:$OWNER -p "$WARD_TMP/pid" -l "$EVENTS" "$POLICY" "$BACK" \
			"$MNT" sh "$WARD_TMP/ends" $how &
		run=$!
		n=0
		until server_ended "$BACK/me"; do
			n=$((n + 1))
			[ $n -lt 6000 ] || break
			sleep 0.01
		done
		# also where it did not stop, or its client waits for it
		kill -CONT "$(cat "$WARD_TMP/pid")" 2>/dev/null || :
		wait $run || fail "$mode, $how: status $?"
		[ $n -lt 6000 ] || fail "$mode, $how: the command does not end"
		recorded '^open .*path=\[/workspace/held\]'
		# As a record of its own, or in that of the opening.
		[ "$(grep -cE '^(close|open .*) path=\[/workspace/held\].* read=' "$EVENTS")" = 1 ] ||
			fail "$mode, $how: the end is not recorded once"
	done
done
