#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What reading does to the time of access. The same reads are made on the file system itself and inside, of
# a backing that is mounted relatime, noatime and strictatime: the same ones move it, the rest leave it,
# and what stat says inside is what it is on the backing, also where the kernel reads the backing by itself.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

# reads.py BACKING|- [SKIP…]: in this directory; a line for each way to read. BACKING: where it stands on
# the host.
cat >"$WARD_TMP/reads.py" <<'END'
import mmap
import os
import subprocess
import sys
import time

BACK = sys.argv[1]
SKIP = sys.argv[2:]
# CLOCK_REALTIME_COARSE (clock_gettime(2)), which Python does not name
COARSE = 5
OLD = 86400 * 10 ** 9


def tick(path):
    """until the kernel's coarse clock is past the times of the file. Since Linux 6.13 (current_time(), multigrain
    timestamps) these may be ahead of it for the better part of a tick, which a tick of the clock does not make good:
    a file that is read then has the time already that it is given, and is left alone."""
    st = os.lstat(path)
    past = max(st.st_atime_ns, st.st_ctime_ns, time.clock_gettime_ns(COARSE))
    for _ in range(60000):
        if time.clock_gettime_ns(COARSE) > past:
            return
        time.sleep(0.001)
    sys.exit("the clock stands still")


def atime(path):
    return os.lstat(path).st_atime_ns


def told(what, path, late=False):
    """what stat says is what it is on the backing; late: becomes"""
    if BACK == "-":
        return
    for _ in range(1200 if late else 1):
        here, there = atime(path), os.lstat(os.path.join(BACK, path)).st_atime_ns
        if here == there:
            return
        time.sleep(0.05)
    sys.exit(f"FAIL: {what}: {here} inside, {there} on the backing")


def check(what, path, read, late=False):
    if what in SKIP:
        return
    os.utime(path, ns=(OLD, OLD), follow_symlinks=False)
    assert atime(path) == OLD
    tick(path)
    read(path)
    told(what, path, late)
    print(what, "moved" if atime(path) != OLD else "kept")
    if what + " again" in SKIP:
        return
    tick(path)
    before = atime(path)
    read(path)
    told(what + " again", path, late)
    print(what, "again", "moved" if atime(path) != before else "kept")


def opened(flags, use):
    def read(path):
        fd = os.open(path, flags)
        try:
            use(fd)
            assert os.fstat(fd).st_size > 0
        finally:
            os.close(fd)
    return read


def mapped(fd):
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as m:
        assert m[0]


def spliced(fd):
    r, w = os.pipe()
    os.splice(fd, w, 5, 0)
    os.close(r)
    os.close(w)


def to(call):
    def use(fd):
        out = os.open("out", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            call(fd, out)
        finally:
            os.close(out)
            os.unlink("out")
    return use


def direct(fd):
    with mmap.mmap(-1, 4096) as m:
        os.preadv(fd, [m], 0)


def one(fd):
    assert os.read(fd, 1)


check("open", "open", opened(os.O_RDONLY, lambda fd: None))
check("read", "read", opened(os.O_RDONLY, one))
check("rdwr", "rdwr", opened(os.O_RDWR, lambda fd: os.pread(fd, 9, 3)))
check("noatime", "noatime", opened(os.O_RDONLY | os.O_NOATIME, one))
check("direct", "direct", opened(os.O_RDONLY | os.O_DIRECT, direct))
check("mmap", "mmap", opened(os.O_RDONLY, mapped))
check("splice", "splice", opened(os.O_RDONLY, spliced))
check("sendfile", "sendfile", opened(os.O_RDONLY, to(lambda fd, out: os.sendfile(out, fd, 0, 9))))
check("copy", "copy", opened(os.O_RDONLY, to(lambda fd, out: os.copy_file_range(fd, out, 9))), True)
check("exec", "exec", lambda path: subprocess.run(["./" + path], check=True))
check("readlink", "link", os.readlink)
check("list", "dir", os.listdir)
END

if [ "${1-}" != mounted ]; then
	for flag in relatime noatime strictatime; do
		unshare --mount --propagation private sh -eu "$0" mounted $flag || fail "$flag"
	done
	exit 0
fi

flag=$2
# filled DIR: what is read, made on the host
filled() {
	rm -rf "$1/in"
	as_owner mkdir "$1/in" "$1/in/dir"
	for f in open read rdwr noatime direct mmap splice sendfile copy; do
		head -c 8192 /dev/zero | tr '\0' x >"$1/in/$f"
	done
	cp /bin/true "$1/in/exec"
	ln -s read "$1/in/link"
	: >"$1/in/dir/f"
	chown -hR $OWNER:$OWNER "$1/in"
}
# on the file system itself
fresh
mount --bind "$BACK" "$BACK"
mount -o "remount,bind,$flag" "$BACK"
filled "$BACK"
want=$(cd "$BACK/in" && as_owner python3 "$WARD_TMP/reads.py" -)
case $flag in
noatime) ! echo "$want" | grep moved || fail "native $flag: $want" ;;
relatime)
	echo "$want" | grep -qx "read moved" || fail "native $flag: $want"
	echo "$want" | grep -qx "read again kept" || fail "native $flag: $want"
	;;
strictatime) echo "$want" | grep -qx "read again moved" || fail "native $flag: $want" ;;
esac

# without NAME…: what of $want is left without what differs where the kernel keeps pages or listings
without() {
	out=$want
	for name in "$@"; do out=$(echo "$out" | grep -v "^$name [a-z]*$"); done
	echo "$out"
}
for mode in $MODES quota; do
	# shellcheck disable=SC2119 # as it is
	policy
	[ "$mode" != quota ] || printf '[quota /workspace]\ngrowth = 1G\n' >>"$POLICY"
	filled "$BACK"
	rm -rf "$MNT"
	mkdir "$MNT"
	: >"$EVENTS"
	as=$mode
	[ "$mode" != quota ] || as=root
	# What the kernel keeps is read without us: docs/posix.md.
	if [ "$(passthrough "$as")" = yes ]; then
		set -- "list again"
	else
		set -- noatime "noatime again" "list again" "read again" "rdwr again" "mmap again" "splice again" \
			"sendfile again" "exec again" exec
	fi
	# shellcheck disable=SC2016 # the script's own
	got=$(in_mode "$as" -c 'cd in; exec python3 "$@"' - "$WARD_TMP/reads.py" "$BACK/in" "$@") ||
		fail "$flag, $mode: $got"
	[ "$got" = "$(without "$@")" ] || fail "$flag, $mode: [$got] is not [$(without "$@")]"
done
