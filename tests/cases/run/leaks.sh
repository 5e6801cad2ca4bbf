#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# Nothing leaks in or out: identity of the host, keyrings, sockets, what /proc and /sys tell, our own
# processes. Each with its control: the same is there, and works, outside.
. "$WARD_SRC/tests/cases/lib.sh"
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
cat >key.py <<'P'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine)
if number is None:
    sys.exit(77)
# add_key("user", "wardfs-test", "x", 1, KEY_SPEC_SESSION_KEYRING), then what was given
got = libc.syscall(number, b"user", b"wardfs-test", b"x", 1, -3)
if got < 0:
    print(os.strerror(ctypes.get_errno()))
    sys.exit(1)
os.execvp(sys.argv[1], sys.argv[1:])
P
if python3 key.py true; then
	# With a key in the caller's session keyring: not seen, not reached, inside.
	expect 0 python3 key.py grep -c wardfs-test /proc/keys
	expect 0 python3 key.py "$WARDFS" run -- sh -c 'cat /proc/keys | wc -c'
	[ "$OUT" = 0 ] || fail "/proc/keys tells of $OUT bytes"
	expect 1 "$WARDFS" run -- /usr/bin/python3 key.py true
	has "$OUT" "Operation not permitted"
fi

# --- sockets that lie in the tree ---
cat >listen.py <<'P'
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind("host.sock")
s.listen(5)
open("listening", "w")
while not os.path.exists("stop"):
    s.settimeout(0.2)
    try:
        s.accept()[0].sendall(b"reached\n")
    except TimeoutError:
        pass
P
cat >connect.py <<'P'
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except OSError as e:
    sys.exit(type(e).__name__)
print(s.recv(100).decode(), end="")
P
python3 listen.py &
listener=$!
trap 'touch stop; wait $listener' EXIT
wait_until 60 test -e listening || fail "no listener"
expect 0 python3 connect.py host.sock
has "$OUT" reached
expect 1 "$WARDFS" run -- /usr/bin/python3 connect.py host.sock
hasnt "$OUT" reached
expect 1 "$WARDFS" run -- /usr/bin/python3 connect.py /workspace/host.sock
# What makes a socket itself reaches it.
expect 0 "$WARDFS" run -- /usr/bin/python3 -c '
import socket, threading
s = socket.socket(socket.AF_UNIX)
s.bind("/tmp/own.sock")
s.listen(1)
c = socket.socket(socket.AF_UNIX)
c.connect("/tmp/own.sock")
s.accept()[0].sendall(b"own\n")
print(c.recv(10).decode())'
has "$OUT" own
for name in /run/dbus/system_bus_socket /run/systemd/private /run/docker.sock /var/run/docker.sock /tmp/.X11-unix \
	"${XDG_RUNTIME_DIR:-/run/user/0}"; do
	expect 1 "$WARDFS" run -- test -e "$name"
done

# --- what /proc and /sys tell ---
for name in /proc/kcore /proc/keys /proc/key-users /proc/kmsg /proc/sysrq-trigger /proc/timer_list; do
	[ -e "$name" ] || continue
	expect 0 "$WARDFS" run -- sh -c 'wc -c <"$1" || echo refused' sh $name
	case $OUT in 0 | refused) ;; *) fail "$name tells $OUT bytes" ;; esac
done
expect 2 "$WARDFS" run -- sh -c 'echo 1 >/proc/sys/kernel/printk_delay'
for name in /sys/class /sys/block /sys/firmware /sys/fs /sys/kernel/security /proc/acpi/x; do
	expect 1 "$WARDFS" run -- test -e $name
done
[ -e /sys/class ] || fail "control: this host has no /sys/class"
expect 0 "$WARDFS" run -- sh -c 'ls -d /sys/devices/system/cpu/cpu0 && nproc'

# --- our own processes: from inside not there, from outside nobody's but root's ---
touch hold
"$WARDFS" run --session held -- sh -c 'touch up; while [ -e hold ]; do sleep 0.1; done' &
run=$!
wait_until 60 test -e up || fail "not started"
status=$("$WARDFS" ps --json)
for who in pid fs_pid audit_pid init_pid; do
	pid=$(printf '%s\n' "$status" | sed -n "s/.*\"$who\": \([0-9]*\).*/\1/p" | head -n 1)
	[ -d "/proc/$pid" ] || fail "$who: no process '$pid'"
	# /proc/PID belongs to root where a process is not dumpable (proc(5)).
	[ "$(stat -c %u "/proc/$pid/environ")" = 0 ] || fail "$who is dumpable"
	if setpriv --reuid 62554 --clear-groups cat "/proc/$pid/environ" >/dev/null 2>&1; then
		fail "$who can be read by the command's uid"
	fi
done
sleep 60 &
plain=$!
setpriv --reuid 62554 --clear-groups sh -c 'sleep 61 & cat "/proc/$!/environ" >/dev/null; r=$?; kill $!; exit $r' ||
	fail "control: a dumpable process of that uid cannot be read"
kill $plain
expect 0 "$WARDFS" exec held -- sh -c 'grep -l wardfs /proc/[0-9]*/comm; ls -d /proc/1 2>&1; true'
hasnt "$OUT" "/proc/1/comm"
rm hold
wait $run
exit 0
