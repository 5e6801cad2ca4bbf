#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Nothing leaks in or out: host identity, keyrings, sockets, /proc and /sys, our own processes.
# Each has its control: the same exists and works outside.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1

# --- who this host is ---
expect 0 "$WARDFS" run -- sh -c 'cat /etc/machine-id; hostname; cat /etc/hostname /proc/sys/kernel/hostname'
inside=$OUT
if [ -s /etc/machine-id ]; then
	hasnt "$inside" "$(cat /etc/machine-id)"
fi
printf '%s\n' "$inside" | head -n 1 | grep -qxE '[0-9a-f]{32}' || fail "machine-id: $inside"
[ "$(printf '%s\n' "$inside" | tail -n +2 | sort -u)" = wardfs ] || fail "host name: $inside"
expect 0 "$WARDFS" run -- cat /etc/machine-id
[ "$OUT" != "$(printf '%s\n' "$inside" | head -n 1)" ] || fail "two sessions have one machine-id"
[ "$(hostname)" != wardfs ] || fail "control: the host is called wardfs"
# The host's users, and the shadow file.
expect 0 "$WARDFS" run -- sh -c 'cut -d: -f1 /etc/passwd | sort | tr "\n" " "'
[ "$OUT" = "agent nobody root " ] || fail "users: $OUT"
[ "$(cut -d: -f1 /etc/passwd | wc -l)" -gt 3 ] || fail "control: the host has three users"

# --- the session keyring ---
cp "$WARD_SRC/tests/cases/run/lib/leaks-key.py" key.py
if python3 key.py true; then
	# With a key in the caller's session keyring: not seen, not reached, inside.
	expect 0 python3 key.py grep -c wardfs-test /proc/keys
	expect 0 python3 key.py "$WARDFS" run -- sh -c 'cat /proc/keys | wc -c'
	[ "$OUT" = 0 ] || fail "/proc/keys tells of $OUT bytes"
	expect 1 "$WARDFS" run -- /usr/bin/python3 key.py true
	has "$OUT" "Operation not permitted"
fi

# --- sockets that lie in the tree ---
cp "$WARD_SRC/tests/cases/run/lib/leaks-listen.py" listen.py
cp "$WARD_SRC/tests/cases/run/lib/leaks-connect.py" connect.py
python3 listen.py &
listener=$!
trap 'touch stop; wait $listener || :' EXIT
wait_until 60 test -e listening || fail "no listener"
expect 0 python3 connect.py host.sock
has "$OUT" reached
expect 1 "$WARDFS" run -- /usr/bin/python3 connect.py host.sock
hasnt "$OUT" reached
expect 1 "$WARDFS" run -- /usr/bin/python3 connect.py /workspace/host.sock
# A command that makes a socket itself reaches it.
expect 0 "$WARDFS" run -- /usr/bin/python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/leaks-own.py")"
has "$OUT" own

# Nor does the host, or another session, reach what listens inside: a descriptor could go along. The
# command itself does, which is the control.
cp "$WARD_SRC/tests/cases/run/lib/leaks-inside.py" inside.py
"$WARDFS" run -- /usr/bin/python3 inside.py >inside.said 2>&1 &
inside=$!
wait_until 60 test -e inside-listens || fail "nobody listens inside: $(cat inside.said)"
# The output comes by way of the supervisor, and can be later than the file.
wait_until 60 grep -q own inside.said || fail "the command does not reach itself: $(cat inside.said)"
expect 1 python3 connect.py inside.sock
has "$ERR" ConnectionRefusedError
expect 1 "$WARDFS" run -- /usr/bin/python3 connect.py /workspace/inside.sock
has "$ERR" ConnectionRefusedError
touch stop-inside
wait $inside || fail "inside: $(cat inside.said)"

# --- the host's own sockets: on a /run where they are, in a mount namespace of its own ---
cp "$WARD_SRC/tests/cases/run/lib/leaks-daemons.py" ../daemons.py
cat >../daemons.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mount -t tmpfs -o mode=755 tmpfs /run
python3 ../daemons.py daemons "$@" &
daemons=$!
trap 'touch stop; wait $daemons || :; for n do rm -f "$n"; rmdir "${n%/*}" || :; done 2>/dev/null' EXIT
wait_until 60 test -e daemons || fail "no daemons"
for view in minimal readonly; do
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nview = %s\n' $view >../$view.policy
done
for name do
	expect 0 python3 connect.py "$name"
	has "$OUT" reached
done
# none of them is there, or none of them answers
expect 0 "$WARDFS" run -- sh -c 'for n do test ! -e "$n" || echo "$n"; done' sh "$@"
[ -z "$OUT" ] || fail "seen: $OUT"
for view in minimal readonly; do
	expect 0 "$WARDFS" run --policy ../$view.policy -- sh -c 'for n do python3 connect.py "$n"; done; true' sh "$@"
	[ -z "$OUT" ] || fail "view $view: $OUT"
	[ "$(printf '%s\n' "$ERR" | grep -cE '^(FileNotFound|ConnectionRefused|Permission)Error$')" = $# ] || fail "$ERR"
done
exit 0
S
if [ "$(id -u)" -eq 0 ]; then
	(cd .. && mkdir -p q) || exit 1
	cp connect.py ../q
	git init -q ../q
	(cd ../q && unshare --mount --propagation private sh ../daemons.sh /run/dbus/system_bus_socket \
		/run/systemd/private /run/docker.sock /run/user/1000/bus /run/user/1000/wayland-0 \
		/run/user/1000/ssh-agent.sock /tmp/wardfs-test.$$/agent.1) || fail "sockets of the host"
fi

# --- what /proc and /sys tell ---
# Each has a mount of its own in front of it; what an ordinary user could read tells nothing any
# more.
expect 0 "$WARDFS" run -- cut -d' ' -f5 /proc/self/mountinfo
masks=$OUT
for name in /proc/kcore /proc/keys /proc/key-users /proc/kmsg /proc/sysrq-trigger /proc/timer_list \
	/proc/latency_stats /proc/sched_debug /proc/vmallocinfo /proc/acpi /proc/scsi; do
	[ -e "$name" ] || continue
	printf '%s\n' "$masks" | grep -qx "$name" || fail "nothing covers $name: $masks"
	[ ! -d "$name" ] || continue
	expect 0 "$WARDFS" run -- sh -c 'wc -c <"$1"' sh $name
	[ "$OUT" = 0 ] || fail "$name tells $OUT bytes"
done
[ "$(setpriv --reuid 62554 --clear-groups wc -c </proc/key-users)" -gt 0 ] || fail "control: /proc/key-users is empty"
expect 2 "$WARDFS" run -- sh -c 'echo 1 >/proc/sys/kernel/printk_delay'
has "$ERR" "Read-only file system"
# One that the owner of the ipc namespace could write, were it not for the mount.
expect 0 unshare --user --ipc --map-root-user sh -c 'echo 100 >/proc/sys/fs/mqueue/queues_max'
expect 2 "$WARDFS" run -- sh -c 'echo 100 >/proc/sys/fs/mqueue/queues_max'
has "$ERR" "Read-only file system"
for name in /sys/class /sys/block /sys/firmware /sys/fs /sys/kernel/security /proc/acpi/x; do
	expect 1 "$WARDFS" run -- test -e $name
done
[ -e /sys/class ] || fail "control: this host has no /sys/class"
expect 0 "$WARDFS" run -- sh -c 'ls -d /sys/devices/system/cpu/cpu0 && nproc'

# --- our own processes: from inside not there, from outside nobody's but root's ---
touch hold
SECRET=hunter2 "$WARDFS" run --session held --env GIVEN=seen -- sh -c 'touch up; while [ -e hold ]; do sleep 0.1; done' &
run=$!
wait_until 60 test -e up || fail "not started"
init=$(status_of held init_pid)
command=$(cat "/proc/$init/task/$init/children" | cut -d' ' -f1)
# From outside, as root: the caller's environment is the supervisor's (the control), pid 1 has none,
# the command what it was given.
[ "$(tr '\0' '\n' <"/proc/$run/environ" | grep -c hunter2)" = 1 ] || fail "control: the supervisor's environment"
[ "$(wc -c <"/proc/$init/environ")" = 0 ] || fail "pid 1: $(tr '\0' ' ' <"/proc/$init/environ")"
[ "$(tr '\0' '\n' <"/proc/$command/environ" | grep -c '^GIVEN=seen$')" = 1 ] || fail "control: the command's environment"
! grep -q hunter2 "/proc/$command/environ" || fail "the command has what nobody gave it"
expect 0 "$WARDFS" exec held -- sh -c 'grep -l wardfs /proc/[0-9]*/comm; ls -d /proc/1 2>&1; true'
hasnt "$OUT" "/proc/1/comm"
rm hold
wait $run

# As one ordinary user all of ours have that user's id: only that they are not dumpable keeps the
# user's other processes out of their memory and descriptors (proc(5), ptrace(2)).
cp "$WARD_SRC/tests/cases/run/lib/leaks-dump.py" ../dump.py
cp "$WARD_SRC/tests/cases/run/lib/leaks-found.py" ../found.py
cat >../same-user.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project q
cd q || exit 1
cp "$1"/*.py .
if python3 key.py true; then
	# Mode none hands the session keyring on (the control), process has one of its own, and no
	# filter in front of it. /proc/keys shows a user's keys wherever they are; found are those
	# of the keyring.
	expect 0 python3 key.py "$WARDFS" run --mode none -- /usr/bin/python3 found.py
	[ "$OUT" = found ] || fail "control: $OUT"
	expect 0 python3 key.py "$WARDFS" run --mode process -- /usr/bin/python3 found.py
	[ "$OUT" = "Required key not available" ] || fail "mode process: $OUT"
	expect 0 "$WARDFS" run --mode process -- /usr/bin/python3 key.py /usr/bin/python3 found.py
	[ "$OUT" = found ] || fail "control: a key of its own: $OUT"
fi
touch hold
"$WARDFS" run --session held -- sh -c 'touch up; while [ -e hold ]; do sleep 0.1; done' &
run=$!
wait_until 60 test -e up || fail "not started"
for who in pid fs_pid audit_pid init_pid; do
	pid=$(status_of held $who)
	[ "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")" = 4711 ] || fail "$who: another user's"
	expect 0 python3 dump.py "$pid"
	[ -z "$OUT" ] || fail "$who gives away: $OUT"
done
sleep 60 &
expect 0 python3 dump.py $!
kill $!
[ "$OUT" = "environ maps mem fd/0 root pidfd_getfd ptrace" ] || fail "control: of a process of the user's: $OUT"
rm hold
wait $run
S
if [ "$(id -u)" -eq 0 ]; then
	mkdir -p ../pub && cp ../dump.py ../found.py key.py ../pub && chmod -R a+rX ../pub ../same-user.sh
	(as_user "$WARD_TMP/same-user.sh" "$WARD_TMP/pub") || fail "as an ordinary user"
fi
exit 0
