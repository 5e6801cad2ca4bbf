#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file that others replace again and again, by the host and by another program inside, while programs open it,
# ask about it, change it: each finds the file that it was or the one that it is, nobody is told ESTALE, and what is
# opened is whole. The controls: it was replaced meanwhile, many times, and different ones were seen.
# timeout: 600
# suites: tsan
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/replace.py" <<'P'
import os, sys
where, stop = sys.argv[1:3]
os.chdir(where)
me = os.path.basename(stop)
n = 0
while not os.path.exists(stop):
    t = "new-%s-%d" % (me, os.getpid())
    with open(t, "w") as f:
        f.write("%s %d\n" % (me, n))
    os.chmod(t, 0o755)
    os.rename(t, "f")
    os.symlink("%s-%d" % (me, n), t)
    os.rename(t, "l")
    n += 1
with open(stop + ".n", "w") as f:
    f.write(str(n))
P
cat >"$WARD_TMP/use.py" <<'P'
import errno, os, sys, time
seen, count = set(), {}
def whole(fd):
    try:
        text = os.read(fd, 100)
        assert text.endswith(b"\n") and text.startswith((b"host ", b"inside ")), text
        seen.add(text)
        assert os.fstat(fd).st_size == len(text)
    finally:
        os.close(fd)
def times():
    os.utime("f")
WAYS = [
    lambda: whole(os.open("f", os.O_RDONLY)),
    lambda: whole(os.open("f", os.O_RDWR)),
    lambda: whole(os.open("f", os.O_RDWR | os.O_CREAT, 0o755)),
    lambda: seen.add(os.readlink("l")),
    lambda: os.stat("f"),
    lambda: os.access("f", os.R_OK),
    lambda: os.chmod("f", 0o755),
    lambda: times(),
    lambda: os.getxattr("f", "user.none"),
    lambda: os.close(os.open("f", os.O_PATH)),
    lambda: os.link("f", "linked"),
]
end = time.monotonic() + (60 if os.environ.get("WARD_LONG") else 1)
n = 0
# However slow the machine is: each way some times.
while time.monotonic() < end or n < 20:
    for i, way in enumerate(WAYS):
        for _ in range(40 if i < 4 else 5):
            try:
                way()
            except OSError as e:
                # Of a file without links no link can be made, natively so.
                want = {8: errno.ENODATA, 10: errno.ENOENT}.get(i)
                assert e.errno == want, (i, e)
            if i == 10 and os.path.lexists("linked"):
                os.unlink("linked")
    n += 1
assert len(seen) > 20, seen
P
script inside <<END
echo "host 0" >f
chmod 755 f
ln -s host-0 l
: >started
python3 "$WARD_TMP/replace.py" . "$WARD_TMP/stop/inside" &
other=\$!
python3 "$WARD_TMP/use.py" || rc=\$?
: >"$WARD_TMP/stop/inside"
wait \$other
# What was held for a moment is given back: f, l and started are left, many more were made.
[ \$1 = both ] || python3 -c 'import os, time
for _ in range(600):
    v = os.statvfs(".")
    if v.f_files - v.f_ffree <= 3: break
    time.sleep(0.1)
assert v.f_files == 1000 and v.f_files - v.f_ffree == 3, v'
exit \${rc:-0}
END
for mode in $MODES; do for who in both inside; do
	policy '[quota /workspace]' 'growth = 64M' 'files = 1000'
	rm -rf "$WARD_TMP/stop"
	mkdir -m 777 "$WARD_TMP/stop"
	fresh
	# shellcheck disable=SC2016
	[ $who = inside ] || as_owner sh -c 'until [ -e "$1/started" ]; do [ ! -e "$3" ] || exit 0; sleep 0.01; done
		exec python3 "$2" "$1" "$3"' sh "$BACK" "$WARD_TMP/replace.py" "$WARD_TMP/stop/host" &
	host=$!
	rc=0
	in_mode $mode "$WARD_TMP/inside" $who || rc=$?
	: >"$WARD_TMP/stop/host"
	[ $who = inside ] || wait "$host" || fail "$mode: the host's replacing ended"
	[ $rc -eq 0 ] || fail "$mode, $who: inside"
	for by in host inside; do
		[ $by$who = hostinside ] || [ "$(cat "$WARD_TMP/stop/$by.n")" -gt 50 ] ||
			fail "$mode: $by replaced it $(cat "$WARD_TMP/stop/$by.n") times"
	done
done; done
