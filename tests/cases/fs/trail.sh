#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No record, no operation: a ring that is full makes operations wait and loses nothing; a log that
# failed makes them fail with EIO, while what needs no record goes on.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

# The reader of the ring (fsmount) is stopped while more is done than a ring holds.
cat >"$WARD_TMP/full.py" <<'END'
import os, signal, sys, threading
reader = int(sys.argv[1])
os.kill(reader, signal.SIGSTOP)
threading.Timer(0.5, os.kill, (reader, signal.SIGCONT)).start()
for i in range(6000):
    open("a", "rb").close()
END
script full <<END
python3 "$WARD_TMP/full.py" \$PPID
END
script broken <<'END'
# before, all of these are allowed
cat a >/dev/null && echo x >b && mv b c && rm c
# The log fails at this very record: what it is of may have been answered by then, or not.
true >fail || true
n=0
while cat a >/dev/null 2>&1; do
	n=$((n + 1))
	[ $n -lt 12000 ] || { echo "FAIL: goes on without a trail"; exit 1; }
	sleep 0.005
done
refused "Input/output error" cat a
refused "Input/output error" sh -c 'exec 3>b'
refused "Input/output error" mkdir d
refused "Input/output error" mv a e
refused "Input/output error" rm a
refused "Input/output error" truncate -s 0 a
refused "Input/output error" sh -c ': >a'
refused "Input/output error" chmod 600 a
refused "Input/output error" ln a l
refused "Input/output error" ln -s a s
# a refusal that cannot be recorded is no answer of the policy's either
refused "Input/output error" cat secret
ls . >/dev/null && stat a >/dev/null
END
policy 'deny = secret'
for mode in $MODES; do
	fresh
	as_owner sh -c "umask 022; echo a >'$BACK/a' && echo s >'$BACK/secret'"
	if [ "$mode" = root ]; then
		# as root, the script may stop its parent
		"$FSMOUNT" -m root -l "$EVENTS" "$POLICY" "$BACK" "$MNT" sh -eu "$WARD_TMP/full" ||
			fail "full ring"
		[ "$(grep -c '^open .*path=\[/workspace/a\]' "$EVENTS")" = 6000 ] || fail "records lost"
		if grep SPOILED "$EVENTS"; then fail "spoiled"; fi
	fi
	opts="-m $mode"
	[ "$mode" != cached ] || opts="-m root -n"
	# shellcheck disable=SC2086
	"$FSMOUNT" $opts -o $OWNER:$OWNER -x fail -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
		sh -eu "$WARD_TMP/broken" || fail "$mode: failed log"
	# and none of it was done
	[ "$(cat "$BACK/a")" = a ] && [ "$(stat -c %a "$BACK/a")" = 644 ] ||
		fail "$mode: changed without a record"
	rm -f "$BACK/fail"
	[ "$(ls "$BACK")" = "a
secret" ] || fail "$mode: made without a record: $(ls "$BACK")"
done

# A file that is open when the log fails: what the daemon sees of it stops too. It does not see the
# bytes of passthrough handles (mode root; an append area has none).
cat >"$WARD_TMP/held.py" <<'END'
import ctypes, errno, os, sys, time
def refused(what):
    try:
        what()
    except OSError as e:
        if e.errno != errno.EIO:
            sys.exit("FAIL: %s" % e)
        return
    sys.exit("FAIL: done without a trail")
plain = os.open("held", os.O_RDWR)
src = os.open("src", os.O_RDONLY)
log = os.open("log/x", os.O_WRONLY | os.O_APPEND)
def attempts():
    yield lambda: os.write(log, b"log\n")
    if sys.argv[1] != "root":
        yield lambda: os.pwrite(plain, b"x", 0)
    yield lambda: os.posix_fallocate(plain, 0, 100)
    yield lambda: os.ftruncate(plain, 0)
    yield lambda: os.copy_file_range(src, plain, 3, 0, 4)
for what in attempts():
    what()
os.ftruncate(plain, 0)
os.pwrite(plain, b"good", 0)
try:
    os.close(os.open("fail", os.O_CREAT | os.O_WRONLY))
except OSError as e:
    if e.errno != errno.EIO:
        raise
for i in range(12000):
    try:
        os.close(os.open("src", os.O_RDONLY))
    except OSError:
        break
    time.sleep(0.005)
for what in attempts():
    refused(what)
END
policy 'append = /workspace/log'
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && mkdir log && : >log/x && : >held && echo source >src"
	opts="-m $mode"
	[ "$mode" != cached ] || opts="-m root -n"
	# shellcheck disable=SC2086
	"$FSMOUNT" $opts -o $OWNER:$OWNER -x fail -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
		python3 "$WARD_TMP/held.py" $mode || fail "$mode: held"
	[ "$(cat "$BACK/held")" = good ] && [ "$(cat "$BACK/log/x")" = log ] ||
		fail "$mode: written without a trail"
done
