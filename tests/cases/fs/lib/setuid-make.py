# SPDX-License-Identifier: Apache-2.0
# Part of ../setuid.sh.
import os, stat, sys
# How each attempt ended: the bits that the file then has, or the errno's name.
import errno
def attempt(what, name):
    try:
        what(name)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "%o" % (os.stat(name).st_mode & 0o7000)
os.umask(0)
def create(bits):
    return lambda name: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755 | bits))
def mknod(bits):
    return lambda name: os.mknod(name, stat.S_IFREG | 0o755 | bits)
def fifo(bits):
    return lambda name: os.mknod(name, stat.S_IFIFO | 0o755 | bits)
def chmod(bits):
    return lambda name: (os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755)),
        os.chmod(name, 0o755 | bits))
def fchmod(bits):
    def f(name):
        fd = os.open(name, os.O_CREAT | os.O_RDWR, 0o755)
        os.fchmod(fd, 0o755 | bits)
        os.close(fd)
    return f
def directory(bits):
    return lambda name: (os.mkdir(name), os.chmod(name, 0o755 | bits))
for how in create, mknod, fifo, chmod, fchmod, directory:
    for bits in 0o4000, 0o2000, 0o6000:
        got = attempt(how(bits), "%s%o" % (how.__name__, bits))
        # of a directory they run nothing: git init --shared and dpkg-deb set them
        want = "%o" % bits if how is directory or sys.argv[1] == "allowed" else "EPERM"
        if got != want:
            sys.exit("FAIL: %s %o: %s, not %s" % (how.__name__, bits, got, want))
    # what is no danger stays possible
    got = attempt(how(0), how.__name__ + "0")
    if got != "0":
        sys.exit("FAIL: %s: %s" % (how.__name__, got))
