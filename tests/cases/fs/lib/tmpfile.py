# SPDX-License-Identifier: Apache-2.0
# Part of ../tmpfile.sh.
import errno, os

def tmpfile(where, flags=os.O_RDWR, mode=0o640):
    return os.open(where, flags | os.O_TMPFILE, mode)

def link(fd, to):
    # with a directory: else Python calls link(2), which follows nothing
    os.link(f"self/fd/{fd}", to, src_dir_fd=proc, follow_symlinks=True)

def refused(error, what, *args):
    try:
        what(*args)
    except OSError as e:
        assert e.errno == error, (args, errno.errorcode[e.errno])
    else:
        raise SystemExit(f"FAIL: allowed: {what.__name__} {args}")

proc = os.open("/proc", os.O_PATH)
os.umask(0o022)
fd = tmpfile("d")
assert os.write(fd, b"one two") == 7
st = os.fstat(fd)
assert (st.st_size, st.st_nlink, st.st_mode & 0o7777) == (7, 0, 0o640), st
assert os.pread(fd, 3, 4) == b"two"
os.truncate(fd, 5)
os.chmod(fd, 0o600)
again = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
assert os.read(again, 9) == b"one t"
os.close(again)
assert os.listdir("d") == []
link(fd, "d/named")
assert open("d/named").read() == "one t" and os.stat("d/named").st_nlink == 1
os.write(fd, b"!")
os.close(fd)
assert os.stat("d/named").st_size == 8 and os.stat("d/named").st_mode & 0o777 == 0o600
# a second name, and a directory moved in between
fd = tmpfile("d")
os.write(fd, b"x")
os.rename("d", "d2")
link(fd, "d2/a")
os.link("d2/a", "e/b")
os.close(fd)
assert os.stat("e/b").st_nlink == 2
# never named: gone with its last handle
fd = tmpfile("e")
os.close(fd)
# what the rules say: of the directory, then of the name
refused(errno.EACCES, tmpfile, "readonly")
refused(errno.EACCES, tmpfile, "appendonly")
refused(errno.ENOENT, tmpfile, "hidden")
fd = tmpfile("d2")
for to in ("readonly/n", "d2/secret", "guarded/n"):
    refused(errno.EACCES, link, fd, to)
refused(errno.EEXIST, link, fd, "d2/a")
link(fd, "d2/control")
os.close(fd)
# O_EXCL: never to be named
fd = tmpfile("d2", os.O_RDWR | os.O_EXCL)
refused(errno.ENOENT, link, fd, "d2/excl")
os.close(fd)
refused(errno.EPERM, tmpfile, "d2", os.O_RDWR, 0o4755)
refused(errno.EINVAL, tmpfile, "d2", os.O_RDONLY)
refused(errno.ENOTDIR, tmpfile, "d2/control")
