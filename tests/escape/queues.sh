#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# POSIX message queues: the session has its own, and they are bounded.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"

# queue NAME make|open|fill|gone: what mq_open(3) and friends answer
cp "$WARD_SRC/tests/escape/lib/queues-queue.py" "$WARD_TMP/queue.py"
chmod 644 "$WARD_TMP/queue.py"
chmod 755 "$WARD_TMP"

queue() { # queue MODE NAME VERB
	inside "$1" --bind "$WARD_TMP/queue.py=/queue.py" -- python3 /queue.py "$2" "$3"
}

check() {
	theirs=/ward-$$-theirs ours=/ward-$$-ours
	# The host's queues do not exist inside, and the session cannot remove them.
	python3 "$WARD_TMP/queue.py" $theirs make >/dev/null || fail "control: no queues on this host"
	[ "$(queue "$1" $theirs open)" = "No such file or directory" ] || fail "$1: a queue of the host"
	[ "$(queue "$1" $theirs gone)" = "No such file or directory" ] || fail "$1: a queue of the host"
	[ "$(python3 "$WARD_TMP/queue.py" $theirs open)" = "done" ] || fail "control: not opened outside"
	[ "$(python3 "$WARD_TMP/queue.py" $theirs gone)" = "done" ] || fail "control: not removed outside"
	# What the session has can be used there by another process, and listed; not outside.
	rm -f "$WARD_TMP/go" "$WARD_TMP/out"
	mkfifo "$WARD_TMP/go"
	inside "$1" --bind "$WARD_TMP/queue.py=/queue.py" -- sh -c '
		python3 /queue.py "$0" make; ls /dev/mqueue; echo up; read -r _; python3 /queue.py "$0" open' \
		$ours <"$WARD_TMP/go" >"$WARD_TMP/out" 2>&1 &
	pid=$!
	exec 3>"$WARD_TMP/go"
	i=0
	until grep -qs up "$WARD_TMP/out"; do
		i=$((i + 1))
		{ [ $i -lt 1200 ] && kill -0 $pid; } || fail "$1: not started: $(cat "$WARD_TMP/out")"
		sleep 0.05
	done
	[ "$(python3 "$WARD_TMP/queue.py" $ours open)" = "No such file or directory" ] ||
		fail "$1: a queue of the session is seen outside"
	[ "$(queue "$1" $ours open)" = "No such file or directory" ] || fail "$1: another session's queue"
	echo >&3
	exec 3>&-
	wait $pid || fail "$1: $(cat "$WARD_TMP/out")"
	[ "$(cat "$WARD_TMP/out")" = "done
${ours#/}
up
done" ] || fail "$1: $(cat "$WARD_TMP/out")"
	[ "$(queue "$1" $ours fill)" = bounded ] || fail "$1: queues: $(queue "$1" $ours fill)"
}

each_mode check
