# SPDX-License-Identifier: Apache-2.0
# Part of ../held.sh.
import errno, os, sys
d = sys.argv[1]
fd = os.open(d, os.O_RDONLY)
for f in os.listdir(fd):
    os.unlink(f, dir_fd=fd)
os.chdir(d)
os.rmdir("../../" + d)
for at in (fd, "."):
    assert os.stat(at).st_nlink == 0 and os.listdir(at) == [] and os.listxattr(at) == []
    os.utime(at, ns=(1, 2))
    os.chmod(at, 0o711)
    st = os.stat(at)
    assert st.st_mtime_ns == 2 and st.st_mode & 0o777 == 0o711, st
os.fsync(fd)
for f in (lambda: os.mkdir("x"), lambda: os.open("x", os.O_CREAT | os.O_WRONLY), lambda: os.open("x", 0)):
    try:
        f()
    except OSError as e:
        assert e.errno == errno.ENOENT, e
    else:
        raise SystemExit("in a directory that is gone")
