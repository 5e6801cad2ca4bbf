#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command attacks its limits: descriptors, files in /tmp, core dumps, and its control group.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >hogs.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nopen-files = 60\ntmp = 2M\nfile = 1M\n' >tight.policy
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nopen-files = 1000\ntmp = 64M\nfile = 8M\ncore = yes\n' >wide.policy
tight() {
	"$WARDFS" run --policy tight.policy -- "$@"
}
wide() {
	"$WARDFS" run --policy wide.policy -- "$@"
}
# meets WHY BODY: the program comes to its end under the wide limits, and meets the tight one.
meets() {
	program="import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    $2
except OSError as e:
    print(e.strerror)
else:
    print('all')"
	expect 0 wide python3 -c "$program"
	[ "$OUT" = all ] || fail "control: $1: $OUT"
	expect 0 tight python3 -c "$program"
	[ "$OUT" = "$1" ] || fail "not '$1' but: $OUT"
}
meets "Too many open files" 'for i in range(300): os.open("/dev/null", os.O_RDONLY)'
meets "No space left on device" \
	'for i in range(8000): os.close(os.open(f"/tmp/f{i}", os.O_CREAT | os.O_WRONLY))'
meets "File too large" 'with open("/workspace/big", "wb") as f: f.write(bytes(3 << 20))'
rm -f big
expect 0 wide sh -c 'ulimit -Hc'
[ "$OUT" = "$(ulimit -Hc)" ] || fail "control: cores: $OUT"
# A program that sets the limit gets success, and nothing changes: programs that forbid themselves
# cores (gpg, ssh-agent) go on.
expect 0 wide sh -c 'ulimit -c'
[ "$OUT" = "$(ulimit -Hc)" ] || fail "control: not all that may be: $OUT"
expect 0 tight sh -c 'ulimit -c; ulimit -Hc; ulimit -Sc 0; ulimit -c unlimited; ulimit -c; sed -n "s/ *$//; s/^Max core file size *//p" /proc/self/limits'
[ "$(echo $OUT)" = "0 0 0 1 1 bytes" ] || fail "cores: $OUT"

# The group: nothing inside names it, nothing can be mounted that does; in mode process the host's
# files that do cannot be written.
expect 0 tight sh -c 'ls -d /sys/fs/cgroup /sys/fs 2>/dev/null; grep -c cgroup /proc/self/mountinfo || :'
[ "$OUT" = 0 ] || fail "cgroups are seen inside: $OUT"
expect 0 tight python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for kind in (b"cgroup", b"cgroup2"):
    r = libc.mount(b"x", b"/tmp", kind, 0, None)
    print(r, os.strerror(ctypes.get_errno()))'
[ "$OUT" = "-1 Operation not permitted
-1 Operation not permitted" ] || fail "mounted: $OUT"
out='import glob, os
done = []
for p in glob.glob("/sys/fs/cgroup/*/cgroup.procs") + glob.glob("/sys/fs/cgroup/cgroup.procs"):
    try:
        with open(p, "w") as f:
            f.write(str(os.getpid()))
        done.append(p)
    except OSError as e:
        pass
print(len(done))'
expect 0 "$WARDFS" run --mode process -- python3 -c "$out"
[ "$OUT" = 0 ] || fail "left its group: $OUT"
exit 0
S
cp hogs.body hogs.sh
chmod 755 "$WARD_TMP"
sh ./hogs.sh || fail "as root"
as_user "$WARD_TMP/hogs.sh" || fail "as an ordinary user"
# The control: whoever may write there moves, and is back.
before=$(cat /proc/self/cgroup)
for p in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do
	[ -w "$p" ] && break
done
mkdir "${p%/*}/wardfs-test.$$" || skip "no control groups here"
sh -c 'echo $$ >"$1" && grep -q "wardfs-test" /proc/self/cgroup' sh "${p%/*}/wardfs-test.$$/cgroup.procs" ||
	fail "control: root cannot move a process"
rmdir "${p%/*}/wardfs-test.$$"
[ "$(cat /proc/self/cgroup)" = "$before" ] || fail "this test moved itself"
exit 0
