#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-hostd under its own uid (4713) registers passthrough for sessions of an ordinary user
# (4711): what it takes of a client that is hostile, what it registers, and what a session does when
# the service stops, ends, or was never there.
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
SOCKET=/run/wardfs-host/socket
if [ $# -eq 0 ]; then
	exec unshare --mount --propagation private sh "$0" inside # /run of its own
fi

mount -t tmpfs -o mode=755 tmpfs /run
mknod /run/fuse c 10 229
chmod 666 /run/fuse
mount --bind /run/fuse /dev/fuse
# As the unit's tmpfiles.d(5) has it for the service's user; here for all.
# shellcheck disable=SC2046
mknod /run/latency c $(stat -c '0x%t 0x%T' /dev/cpu_dma_latency)
chmod 666 /run/latency
mount --bind /run/latency /dev/cpu_dma_latency
mkdir -p /run/wardfs-host /run/home/p /run/mine /run/secret
chmod 755 "$WARD_TMP"
chown 4711:4711 /run/home /run/home/p /run/mine
for f in open shut both; do
	echo root >/run/secret/$f
done
chmod 600 /run/secret/shut
chmod 666 /run/secret/both
HOME=/run/home
export HOME SOCKET
unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
service=
session=
trap 'touch "$HOME/p/end"; [ -z "$session" ] || wait "$session" || :
	[ -z "$service" ] || kill -KILL "$service" 2>/dev/null || :' EXIT

# owner COMMAND...: as the ordinary user, in its project
owner() {
	(cd "$HOME/p" && setpriv --reuid=4711 --regid=4711 --clear-groups --inh-caps=-all "$@")
}

# service: starts it as its unit does; its pid is $service
service() {
	caps=+sys_admin,+setuid,+setgid
	rm -f "$SOCKET"
	python3 "$WARD_SRC/tests/support/activate.py" "$SOCKET" 0 /usr/bin/setpriv --reuid=4713 \
		--regid=4713 --clear-groups --inh-caps=-all,$caps --ambient-caps=-all,$caps \
		"$WARD_BUILD/wardfs-hostd" 2>>service.err &
	service=$!
	wait_until 60 test -S "$SOCKET" || fail "the service does not start: $(cat service.err)"
}

# worker: the pid of the service's process that has a session
worker() {
	cat "/proc/$service/task/$service/children"
}

# how FILE: how the session that runs has it open
how() {
	owner "$WARDFS" ps --io --json | python3 -c '
import json, sys
for session in json.load(sys.stdin):
    for f in session["io"]["handles"]:
        if f["path"].endswith("/" + sys.argv[1]):
            print(f["io"])' "$1"
}

echo "--- what it takes of a client of its own"
service
python3 "$WARD_SRC/tests/support/hostgiven.py" /run/secret/shut 4712 4711 /usr/bin/python3 \
	"$WARD_SRC/tests/support/hostclient.py" "$SOCKET" /run/mine /run/secret >got || fail "$(cat got)"
cat >want <<'EOF'
a file on a mount of its own namespace: EXDEV
own O_RDWR: registered
own O_RDONLY: EBADF
own O_WRONLY: EBADF
own O_RDWR|O_APPEND: EBADF
own O_PATH: EBADF
both O_RDWR: registered
open O_RDONLY: EBADF
shut O_PATH: EBADF
a pipe with a name: EBADF
a pipe: EBADF
a directory: EBADF
a device: EXDEV
memory: EXDEV
own, and then 0400: EACCES
/dev/fuse without a mount: EBADF
a file as /dev/fuse: EBADF
/dev/null as /dev/fuse: EBADF
another process, the same mount: EBUSY
own, written through the mount: new
open for reading: registered
reads it: root
opens it O_RDWR: EIO
opens it O_WRONLY: EIO
without its directory: EXDEV
shut, O_PATH, for reading: EBADF
shut, opened by root: EACCES
shut, opened by root for reading: EACCES
another user's mount: EPERM
a file of a stopped mount: EXDEV
such a file as /dev/fuse: EBADF
another session meanwhile: registered
awake, a file: EBADF
awake, a pipe: registered
latency: 0
awake, a tenth pipe: EUSERS
another client, which ends: registered
kept until then, and then given up: (True, True)
another mount, unmounted, /dev/fuse kept: registered
kept until then, and then given up: (True, True)
nonsense, too short: closed
nonsense, another version: closed
nonsense, another type: closed
nonsense, no file: closed
nonsense, too many: closed
nonsense, longer: closed
nonsense, ids that are not there: closed
after 16384 ids: ENOSPC
one closed: registered
after 128 mounts: EUSERS
many of many mounts: ENOSPC
and after all that: registered
EOF
diff want got || fail "the service is not as strict as that"
for f in open shut both; do
	[ "$(cat /run/secret/$f)" = root ] || fail "root's file was changed: $f"
done
wait_until 60 sh -c "[ -z \"\$(cat /proc/$service/task/$service/children)\" ]" ||
	fail "processes of the service stay: $(worker)"

echo "--- a session reads and writes by it"
owner sh -c 'head -c 2000000 /dev/urandom >large; echo small >small; head -c 300000 /dev/zero >tool
	chmod +x tool'
cat >"$HOME/p/loop" <<'EOF'
exec 3<large 4<small 5<tool
echo one >made
exec 6<>made 7>>more
for i in 1 2 3 4 5; do
	echo $i >of-many
	rm of-many
done
exec 8>of-many
echo first >&8
exec 9<>of-many
echo second >&8
[ "$(cat of-many)" = "first
second" ] || exit 8
head -c 300000 /dev/zero >by-another
touch ready
n=0
while [ ! -e end ]; do
	echo $n >>made
	cat made small large >copy
	cmp -s large large || exit 9
	n=$((n + 1))
	sleep 0.1
done
echo last >&7
echo last >&6
EOF
chown 4711:4711 "$HOME/p/loop"
# No quota, which would count what is written.
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >"$HOME/own.policy"
owner "$WARDFS" run --policy ../own.policy -- sh loop >run.out 2>&1 &
session=$!
wait_until 120 test -e "$HOME/p/ready" || fail "$(cat run.out)"
for pair in large:passthrough small:cached tool:cached made:passthrough more:passthrough; do
	[ "$(how "${pair%:*}" | sort -u)" = "${pair#*:}" ] || fail "$pair: $(how "${pair%:*}")"
done
# Where it was not registered as it was made, and the kernel keeps no pages of it, it still can be.
case $(how of-many | sort -u | tr '\n' ' ') in
"direct passthrough " | "cached ") ;;
*) fail "of many: $(how of-many)" ;;
esac

echo "--- kill -9 of the service, and of the process that serves the session"
of_session=$(worker)
[ -n "$of_session" ] || fail "nobody serves the session"
kill -KILL "$service"
kill -KILL $of_session
sleep 1
before=$(wc -l <"$HOME/p/made")
wait_until 60 sh -c "[ \$(wc -l <$HOME/p/made) -gt $before ]" || fail "the session stands still"
touch "$HOME/p/end"
chown 4711:4711 "$HOME/p/end"
rc=0
wait "$session" || rc=$?
session=
[ $rc -eq 0 ] || fail "the session ended with $rc: $(cat run.out)"
[ "$(tail -n 1 "$HOME/p/more")" = last ] || fail "a write was lost"
owner "$WARDFS" audit verify latest >verified || fail "$(cat verified)"

echo "--- one that is stopped holds a session up once, and not more"
rm "$HOME/p/end"
service
kill -STOP "$service"
owner "$WARDFS" run -- sh -c 'echo a >a; echo b >b; cat large >c; cmp large c' ||
	fail "a session needs a service that is stopped"
kill -CONT "$service"
kill "$service"
wait "$service" 2>/dev/null || :
service=

echo "--- without it"
rm "$SOCKET"
owner "$WARDFS" run -- sh -c 'cat large >c; cmp large c' || fail "needs the service"
exit 0
