#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Between two runs nothing is passed on but what the policy lets be written: no System V IPC, POSIX shared
# memory, no files of /tmp, /run or a home in memory, no daemon, no job of cron. In one run all
# of it works, which is the control; and what the host has of it is not seen inside.
. "$WARD_SRC/tests/cases/lib.sh"
project p
cd p || exit 1
mark=9$$3
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n' >../fresh.policy
cat >leave.py <<'P'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
KEY, NAME, IPC_CREAT = int(sys.argv[2]), "/wardfs-between-" + sys.argv[2], 0o1000
home = os.environ.get("HOME", "/nowhere")
places = ["/tmp/left", "/var/tmp/left", "/dev/shm/left", home + "/left"]

def systemv(flags):
    return {"shm": libc.shmget(KEY, 4096, flags | 0o600), "sem": libc.semget(KEY, 1, flags | 0o600),
            "msg": libc.msgget(KEY, flags | 0o600)}

def posix(flags):
    rt = ctypes.CDLL("librt.so.1", use_errno=True)
    name = NAME.encode()
    return {"posix-shm": rt.shm_open(name, flags | os.O_RDWR, 0o600)}

if sys.argv[1] in ("leave", "both"):
    made = {**systemv(IPC_CREAT), **posix(os.O_CREAT)}
    lost = [k for k, v in made.items() if v < 0]
    if lost:
        sys.exit("cannot make " + " ".join(lost))
    for p in places if sys.argv[1] == "both" or len(sys.argv) < 4 else []:
        open(p, "w").close()
if sys.argv[1] in ("find", "both"):
    found = [k for k, v in {**systemv(0), **posix(0)}.items() if v >= 0]
    found += [p for p in places if os.path.exists(p)]
    print("found", *sorted(found))
if sys.argv[1] == "remove":
    libc.shmctl(libc.shmget(KEY, 0, 0), 0, None)
    libc.semctl(libc.semget(KEY, 0, 0), 0, 0)
    libc.msgctl(libc.msgget(KEY, 0), 0, None)
    rt = ctypes.CDLL("librt.so.1")
    rt.shm_unlink(NAME.encode())
P
python=/usr/bin/python3
key=$((0x5a000000 + $$))
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python leave.py both $key
for what in msg posix-shm sem shm /tmp/left /var/tmp/left /dev/shm/left /home/agent/left; do
	has "$OUT" "$what"
done
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python leave.py find $key
[ "$OUT" = found ] || fail "a second run: $OUT"
# And from the host in, and out.
trap '$python leave.py remove $key; :' EXIT
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
wait $held

# A daemon ends with its session; cron, at and the user's systemd have no place inside to leave a job in.
expect 0 "$WARDFS" run --policy ../fresh.policy -- $python -c '
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", sys.argv[1]])
    os._exit(0)
os.wait()' $mark
wait_until 60 ended $mark || fail "a daemon is left"
sleep $mark &
daemon=$!
wait_until 60 running $mark || fail "control: a daemon is seen"
kill $daemon
[ -d /etc/systemd ] || [ -d /etc/cron.d ] || fail "control: the host has no such place itself"
for place in /var/spool/cron /var/spool/at /etc/cron.d /etc/crontab /etc/systemd /run/systemd /var/lib/systemd; do
	expect 1 "$WARDFS" run --policy ../fresh.policy -- test -e $place
done
