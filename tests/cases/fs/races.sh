#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several processes pull at the same names for a few seconds: renames of directories against opens,
# links against opens, replacements against reads. No secret comes out, no error that a local file
# system could not give, and the daemon ends well.
# timeout: 600
# suites: tsan
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/race.py" <<'END'
import errno, os, random, sys, threading, time
who = sys.argv[1]
end = time.monotonic() + (60 if os.environ.get("WARD_LONG") else 2)
OK = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EXDEV, errno.EACCES, errno.ENOTDIR,
      errno.EISDIR, errno.EINVAL, errno.ESTALE, errno.EMLINK}
def tries(f, *a):
    try:
        return f(*a)
    except OSError as e:
        assert e.errno in OK, (who, f, a, e)
def read(p):
    with open(p, "rb") as f:
        return f.read()
def swap():
    # vault holds the secret by an anchored rule; pub is free
    a, b = random.choice(("vault", "pub", "sub/x", "pub/y")), random.choice(("sub/x", "pub", "y", "pub/y"))
    tries(os.rename, a, b)
def peek():
    for p in ("vault", "pub", "sub/x", "pub/y", "y"):
        got = tries(read, p + "/secret")
        assert got is None or got != b"the secret\n", p
        tries(read, p + "/f")
        tries(os.stat, p + "/f")
def save():
    n = "t%d" % os.getpid()
    with open(n, "wb") as f:
        f.write(b"x" * random.choice((10, 5000)))
    tries(os.rename, n, "saved")
    got = tries(read, "saved")
    assert got is None or set(got) <= {ord("x")} and len(got) in (10, 5000), len(got)
def link():
    tries(os.link, "pub/f", "l%d" % random.randrange(4))
    tries(os.link, "saved", "ro/l%d" % random.randrange(4))
    for i in range(4):
        tries(os.unlink, "l%d" % i)
        tries(os.unlink, "ro/l%d" % i)
        try:
            with open("ro/fixed", "r+b"):
                raise SystemExit("a read-only file opened for writing")
        except OSError as e:
            assert e.errno in OK
def tree():
    n = "d%d" % random.randrange(3)
    tries(os.makedirs, n + "/e/f")
    def touch():
        with open(n + "/e/f/g", "ab"):
            pass
    tries(touch)
    tries(os.rename, n + "/e", n + "/h")
    tries(os.listdir, n)
    for p in ("/e/f/g", "/h/f/g"):
        tries(os.unlink, n + p)
    for p in ("/e/f", "/e", "/h/f", "/h", ""):
        tries(os.rmdir, n + p)
def modes():
    tries(os.chmod, "pub", random.choice((0, 0o700)))
    tries(read, "pub/f")
    tries(os.chmod, "pub", 0o700)
f = {"swap": swap, "peek": peek, "save": save, "link": link, "tree": tree, "modes": modes}[who]
n = 0
while time.monotonic() < end:
    f()
    n += 1
assert n
END
script races <<END
mkdir pub sub && echo f >pub/f
pids=
for w in swap peek save link tree modes tree save; do
	python3 "$WARD_TMP/race.py" \$w &
	pids="\$pids \$!"
done
rc=0
for p in \$pids; do wait \$p || rc=1; done
exit \$rc
END
for mode in $MODES; do
	policy 'deny = /workspace/vault/secret' 'read = /workspace/ro/fixed'
	fresh
	as_owner sh -c "cd '$BACK' && mkdir vault ro && echo the secret >vault/secret &&
		echo f >ro/fixed && echo f >vault/f"
	in_mode $mode "$WARD_TMP/races" || fail "$mode: races"
	[ "$(cat "$BACK/vault/secret")" = "the secret" ] || fail "$mode: the secret moved"
done
