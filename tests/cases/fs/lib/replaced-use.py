# SPDX-License-Identifier: Apache-2.0
# Part of ../replaced.sh. replaced-use.py MARK...: as long as one of these files is missing, the
# replacing goes on too slowly.
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
patience = time.monotonic() + 200
n = 0
def slow():
    return time.monotonic() < patience and not all(map(os.path.exists, sys.argv[1:]))
# However slow the machine is: each way some times, and each replacer some times.
while time.monotonic() < end or n < 20 or slow():
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
