#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs policy reload runs again and again while programs look up, open, read, write, list and
# rename. After one reload is answered and before the next begins, every answer follows that
# policy, never the other or a mixture. The test also kills everything in the middle of a reload.
# shellcheck disable=SC2016
# timeout: 600
# suites: tsan
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# However it ends, nothing stays mounted.
trap '"$WARDFS" umount --lazy mnt >/dev/null 2>&1 || :' EXIT
mkdir src mnt
over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }
for i in a b c; do
	mkdir -p "src/$i/sub"
	for k in 1 2 3 4; do echo "text $i$k" >"src/$i/sub/$k"; done
done
# In each policy exactly one of a and b can be read, the other is hidden; c is read, or written.
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nhide = /workspace/a\nread = /workspace/c\n' >pa
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nhide = /workspace/b\n' >pb

cp "$WARD_SRC/tests/cases/run/lib/reload-race.py" race.py
expect 0 "$WARDFS" mount --session race --policy ./pa src mnt
expect 0 python3 race.py "$WARDFS" race mnt
echo "$OUT"
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"
expect 0 "$WARDFS" audit verify race

# Killed in the middle: the daemon stopped, a reload waits for it, then one of them dies.
field() { "$WARDFS" ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$1"; }
for victim in client fs_pid pid audit_pid; do
	expect 0 "$WARDFS" mount --session "kill-$victim" --policy ./pa src mnt
	cat mnt/b/sub/1 >/dev/null || fail "control: not served"
	fs=$(field fs_pid)
	kill -STOP "$fs"
	"$WARDFS" policy reload "kill-$victim" ./pb >out 2>&1 &
	client=$!
	case $victim in client) dies=$client ;; *) dies=$(field "$victim") ;; esac
	kill -9 "$dies"
	# Before the daemon answers, whoever is to notice has noticed: it reaps what it started.
	case $victim in
	fs_pid | audit_pid) wait_until 60 test ! -e "/proc/$dies" ;;
	*) wait_until 60 gone "$dies" ;;
	esac || fail "$victim: not dead, or nobody asked"
	kill -CONT "$fs" 2>/dev/null || :
	wait "$client" && fail "$victim: exit 0: $(cat out)"
	if [ "$victim" = client ]; then
		# Nobody waits for the answer; one of the two policies is whole.
		# The reload of the dead one may still be under way.
		wait_until 60 "$WARDFS" policy reload kill-client ./pb || fail "no reload after the death of a client"
		expect 0 cat mnt/a/sub/1
		expect 1 cat mnt/b/sub/1
		expect 0 "$WARDFS" umount mnt
	else
		wait_until 60 sh -c '! cat mnt/b/sub/1 && ! cat mnt/a/sub/1' || fail "$victim: served on"
		umount -l mnt 2>/dev/null || :
	fi
	wait_until 60 over || fail "$victim: the session goes on"
	"$WARDFS" audit verify "kill-$victim" >verdict || [ $? -eq 1 ]
	grep -Eq "intact|incomplete" verdict || fail "$victim: $(cat verdict)"
done
exit 0
