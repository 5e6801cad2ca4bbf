#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Nothing passes from one run to the next except what the policy lets be written: no System V IPC,
# no POSIX shared memory, no files in /tmp, /run or a home in memory, no daemon, no cron job. The
# control: within one run all of it works. The host's are not visible inside.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
mark=9$$3
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n' >../fresh.policy
cp "$WARD_SRC/tests/cases/run/lib/between-leave.py" leave.py
python=/usr/bin/python3
key=$((0x5a000000 + $$))
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python leave.py both $key
for what in msg posix-shm sem shm /tmp/left /var/tmp/left /dev/shm/left /home/agent/left; do
	has "$OUT" "$what"
done
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python leave.py find $key
[ "$OUT" = found ] || fail "a second run: $OUT"
# And from the host in, and out.
trap '$python leave.py remove $key || :' EXIT
expect 0 $python leave.py find $key
[ "$OUT" = found ] || fail "left on the host: $OUT"
expect 0 $python leave.py leave $key ipc-only
expect 0 $python leave.py find $key
for what in msg posix-shm sem shm; do
	has "$OUT" "$what"
done
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python leave.py find $key
[ "$OUT" = found ] || fail "the host's is seen: $OUT"
# Two at once as well.
"$WARDFS" run --policy ../fresh.policy --session holds -- sh -c "$python leave.py both $key >/dev/null && touch up && exec sleep $mark" &
held=$!
wait_until 60 test -e up || fail "not started"
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python leave.py find $key
[ "$OUT" = found ] || fail "another session's is seen: $OUT"
expect 0 "$WARDFS" exec holds -- $python leave.py find $key
has "$OUT" shm
"$WARDFS" kill holds
expect 143 wait $held

# A daemon ends with its session; cron, at and the user's systemd have no place inside to leave a
# job in.
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python -c "$(cat "$WARD_SRC/tests/cases/run/lib/between-daemon.py")" $mark
wait_until 60 ended $mark || fail "a daemon is left"
sleep $mark &
daemon=$!
wait_until 60 running $mark || fail "control: a daemon is seen"
kill $daemon
[ -d /etc/systemd ] || [ -d /etc/cron.d ] || fail "control: the host has no such place itself"
for place in /var/spool/cron /var/spool/at /etc/cron.d /etc/crontab /etc/systemd /run/systemd /var/lib/systemd; do
	expect 1 "$WARDFS" run --policy ../fresh.policy -- test -e $place
done
