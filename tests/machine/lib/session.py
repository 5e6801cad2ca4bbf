#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a session does in the tests of machines, in its project. Says "all done"."""
import errno
import fcntl
import mmap
import os
import sqlite3
import subprocess


def refused(what, wanted, function, *args):
    try:
        function(*args)
    except OSError as e:
        if e.errno in wanted:
            return
        raise
    raise SystemExit(f"{what} was not refused")


refused("reading what is denied", {errno.EACCES, errno.EPERM}, open, "denied")
refused("writing what may be read", {errno.EACCES, errno.EPERM}, open, "fixed/file", "w")
refused("removing what may be read", {errno.EACCES, errno.EPERM}, os.unlink, "fixed/file")
assert open("fixed/file").read() == "old\n"

with open("out/one", "w") as f:
    fcntl.lockf(f, fcntl.LOCK_EX)
    f.write("one ")
with open("out/one", "a") as f:
    f.write("two\n")
os.rename("out/one", "out/moved")
os.symlink("moved", "out/link")
assert open("out/link").read() == "one two\n"
for i in range(20):
    os.mkdir(f"out/d{i}")
assert sorted(os.listdir("out")) == sorted(["moved", "link", *(f"d{i}" for i in range(20))])
for i in range(20):
    os.rmdir(f"out/d{i}")

with open("out/map", "w+b") as f:
    f.truncate(8192)
    with mmap.mmap(f.fileno(), 8192) as m:
        m[4096:4100] = b"page"
        m.flush()
    f.seek(4096)
    assert f.read(4) == b"page"
os.unlink("out/map")

with sqlite3.connect("out/db") as db:
    db.execute("create table t(x)")
    db.executemany("insert into t values(?)", [(i,) for i in range(100)])
assert sqlite3.connect("out/db").execute("select sum(x) from t").fetchone() == (4950,)
os.unlink("out/db")

# A copy shares blocks where it can: it may not, and then it copies.
subprocess.run(["cp", "--reflink=auto", "session.py", "out/copy"], check=True)
assert open("out/copy", "rb").read() == open("session.py", "rb").read()
subprocess.run(["sh", "-c", "git add out/copy && git commit -qm one"], check=True)
print("all done")
