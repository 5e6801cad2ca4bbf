#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What io_uring adds: each CPU's queue has few slots, so waiting requests must not block others.
# Interrupts take another way than their requests. The transport is chosen when INIT arrives.
# timeout: 600
# suites: tsan
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"
over_uring() {
	rc=0
	WARD_TRANSPORT=io_uring in_mode "$@" || rc=$?
	[ $rc != 77 ] || skip "this kernel has no FUSE over io_uring"
	return $rc
}

# More waiters than a queue has places, all from one CPU; others go on; each gets the lock.
cp "$WARD_SRC/tests/cases/fs/lib/uring-waiters.py" "$WARD_TMP/waiters.py"
# A signal that comes at any moment before or after the request was handed out ends the wait.
cp "$WARD_SRC/tests/cases/fs/lib/uring-early.py" "$WARD_TMP/early.py"
# Locks that nobody waits for: given at once, and refused at once.
cp "$WARD_SRC/tests/cases/fs/lib/uring-locks.py" "$WARD_TMP/locks.py"
# Many clients, more threads than queues, slow requests beside fast ones; content arrives whole.
cp "$WARD_SRC/tests/cases/fs/lib/uring-crowd.py" "$WARD_TMP/crowd.py"
script all <<END
xattr=small
python3 - <<'PY' && xattr=big
import os
open("x", "w").close()
os.setxattr("x", "user.a", b"x" * 60000)
PY
python3 "$WARD_TMP/crowd.py" \$xattr
python3 "$WARD_TMP/waiters.py"
python3 "$WARD_TMP/early.py"
python3 "$WARD_TMP/locks.py"
END
for mode in $MODES other; do
	policy
	fresh
	over_uring $mode "$WARD_TMP/all" 2>"$WARD_TMP/err" || { cat "$WARD_TMP/err" >&2; fail "$mode"; }
done

# A quota gives back in order on /dev/fuse alone; the control is the test above.
policy '[quota /workspace]' 'files = 10'
fresh
if in_mode root -c true 2>"$WARD_TMP/err"; then :; else cat "$WARD_TMP/err" >&2; fail "quota"; fi
if WARD_TRANSPORT=io_uring in_mode root -c true 2>"$WARD_TMP/err"; then fail "rings beneath a quota"; fi
grep -q 'unexpected: /dev/fuse' "$WARD_TMP/err" || { cat "$WARD_TMP/err" >&2; fail "quota: why"; }
policy

# Left to choose, the daemon takes /dev/fuse where it may keep the CPUs awake, and rings where not.
case $MODES in
*user*)
	fresh
	WARD_TRANSPORT=auto in_mode user -c true 2>"$WARD_TMP/err" || { cat "$WARD_TMP/err" >&2; fail "auto, user"; }
	;;
esac
if [ -c /dev/cpu_dma_latency ] && [ "$(nproc)" -gt 1 ]; then
	fresh
	if WARD_TRANSPORT=auto in_mode root -c true 2>"$WARD_TMP/err"; then fail "auto, root: rings"; fi
	grep -q 'unexpected: /dev/fuse, CPUs kept awake' "$WARD_TMP/err" || {
		cat "$WARD_TMP/err" >&2
		fail "auto, root"
	}
fi

# Nobody wakes while nothing is asked for: no thread of the daemon runs.
script idle <<END
daemon=\$(cat "$WARD_TMP/pid")
switches() { cat /proc/\$daemon/task/*/status | grep ctxt_switches | sort; }
# the control: threads that run show
before=\$(switches)
for i in 1 2 3 4 5; do echo x >f\$i; rm f\$i; done
[ "\$before" != "\$(switches)" ]
n=0
until before=\$(switches); sleep 1; [ "\$before" = "\$(switches)" ]; do
	n=\$((n + 1))
	[ \$n -lt 60 ] || { echo "FAIL: never idle" >&2; exit 1; }
done
END
fresh
rm -f "$WARD_TMP/pid"
# A thread sanitizer has a thread of its own that wakes.
grep -q __tsan_init "$FSMOUNT" || WARD_TRANSPORT=io_uring "$FSMOUNT" -o $OWNER:$OWNER -p "$WARD_TMP/pid" \
	"$POLICY" "$BACK" "$MNT" sh -eu "$WARD_TMP/idle" || fail "idle"

# The mount goes while its clients are busy: who is left gets errors, nothing hangs.
script busy <<END
for i in 1 2 3 4 5 6; do
	(j=0; while [ \$j -lt 100000 ] && echo x >b\$i.\$j; do
		cat b\$i.\$j || :
		rm b\$i.\$j || :
		j=\$((j + 1))
	done
	[ \$j -lt 100000 ] && : >"$WARD_TMP/ended.\$i") >/dev/null 2>&1 &
done
n=0
while [ "\$(ls | wc -l)" -lt 2 ]; do
	n=\$((n + 1))
	[ \$n -lt 6000 ] || exit 1
done
cd /
umount -f "$MNT" 2>/dev/null || umount -l -f "$MNT"
wait
END
fresh
chown 0:0 "$BACK"
WARD_TRANSPORT=io_uring "$FSMOUNT" "$POLICY" "$BACK" "$MNT" sh -eu "$WARD_TMP/busy" || fail "busy: $?"
[ "$(find "$WARD_TMP" -maxdepth 1 -name 'ended.*' | wc -l)" = 6 ] || fail "busy: not all saw an error"

# Allowed only once it was mounted: the kernel does not offer it, /dev/fuse serves.
script late <<'END'
echo x >f && [ "$(cat f)" = x ]
END
fresh
WARD_TRANSPORT=late "$FSMOUNT" -o $OWNER:$OWNER "$POLICY" "$BACK" "$MNT" sh -eu "$WARD_TMP/late" || fail "late: $?"
