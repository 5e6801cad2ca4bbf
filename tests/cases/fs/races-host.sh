#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs of the host swap a directory of the backing for a symbolic link that leads out of it, and for
# another directory, while the agent reads, writes, creates, renames, removes below its name: what lies
# outside is neither seen nor touched. The control: the same link is followed by who works on the host.
# timeout: 600
# suites: tsan
. "$WARD_SRC/tests/cases/fs/_fs.sh"

# The link leads somewhere from the backing and nowhere from the mount.
BACK=$WARD_TMP/deep/back
cat >"$WARD_TMP/swap.py" <<'P'
import ctypes, os, sys, time
back, stop = sys.argv[1:3]
# Swaps before the agents may end.
ENOUGH = 50
libc = ctypes.CDLL(None)
os.chdir(back)
n = 0
while not os.path.exists(stop):
    assert libc.renameat2(-100, b"d", -100, b"link", 2) == 0
    # where the directory is now, not the link
    assert libc.renameat2(-100, (b"link", b"d")[n % 2] + b"/deep", -100, b"deep", 2) == 0
    n += 1
    if n == ENOUGH + 1:
        print("enough", flush=True)
assert n > ENOUGH, n
P
cat >"$WARD_TMP/inside.py" <<'P'
import errno, os, random, sys, time
begin = time.monotonic()
end = begin + (60 if os.environ.get("WARD_LONG") else 2)
OK = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EACCES, errno.ENOTDIR, errno.ESTALE,
      errno.ELOOP, errno.EISDIR, errno.EXDEV, errno.EINVAL, errno.EIO}
def tries(f, *a):
    try:
        return f(*a)
    except OSError as e:
        assert e.errno in OK, (f, a, e)
def read(p):
    with open(p, "rb") as f:
        return f.read()
def write(p, how):
    fd = os.open(p, how, 0o644)
    os.write(fd, b"inside\n")
    os.close(fd)
def spin(p):
    os.mkdir(p)
    os.rmdir(p)
got, n = set(), 0
# However slow the machine is: some rounds, something was read, and the swapping was there all the while.
while time.monotonic() < end or n < 6 or not any(got) or not os.path.getsize(sys.argv[1]):
    assert time.monotonic() < begin + 240, (n, got)
    who = "%d-%d" % (os.getpid(), n % 3)
    got.add(tries(read, "d/f"))
    got.add(tries(read, "d/deep/f"))
    tries(write, "d/f", os.O_WRONLY | os.O_TRUNC)
    tries(write, "d/new" + who, os.O_WRONLY | os.O_CREAT)
    tries(write, "d/f", os.O_WRONLY | os.O_APPEND)
    tries(os.chmod, "d/f", random.choice((0o600, 0o644)))
    tries(os.rename, "d/new" + who, "d/old" + who)
    tries(os.link, "d/f", "d/l" + who)
    tries(os.unlink, "d/l" + who)
    tries(os.unlink, "d/old" + who)
    tries(spin, "d/sub" + who)
    tries(os.listdir, "d")
    tries(os.utime, "d/f")
    tries(os.truncate, "d/f", 7)
    n += 1
bad = [g for g in got if g and b"outside" in g]
assert not bad, bad
P
script inside <<END
test ! -e ../outside
pids=
for w in 1 2 3; do
	python3 "$WARD_TMP/inside.py" "$WARD_TMP/swaps" &
	pids="\$pids \$!"
done
rc=0
for p in \$pids; do wait \$p || rc=1; done
exit \$rc
END
state_of() { find "$WARD_TMP/deep/outside" -printf '%P %y %m %s %T@ %C@ %n\n' | sort; }
for mode in $MODES; do
	policy
	rm -rf "$WARD_TMP/deep" "$WARD_TMP/stop"
	mkdir "$WARD_TMP/deep"
	fresh
	mkdir -p "$WARD_TMP/deep/outside/deep"
	echo outside >"$WARD_TMP/deep/outside/f" && echo outside >"$WARD_TMP/deep/outside/deep/f"
	chown -R $OWNER:$OWNER "$WARD_TMP/deep/outside"
	as_owner sh -c "cd '$BACK' && mkdir -p d/deep deep && echo inside >d/f && echo inside >d/deep/f &&
		ln -s ../outside link"
	[ "$(as_owner cat "$BACK/link/f")" = outside ] || fail "control: the link"
	before=$(state_of)
	: >"$WARD_TMP/swaps"
	as_owner python3 "$WARD_TMP/swap.py" "$BACK" "$WARD_TMP/stop" >>"$WARD_TMP/swaps" &
	swap=$!
	rc=0
	in_mode $mode "$WARD_TMP/inside" || rc=$?
	: >"$WARD_TMP/stop"
	wait $swap || fail "$mode: the swapping ended"
	[ $rc -eq 0 ] || fail "$mode: inside"
	[ "$before" = "$(state_of)" ] || fail "$mode: changed outside: $before / $(state_of)"
done
