# SPDX-License-Identifier: Apache-2.0
# Part of ../faults-killed.sh.
import os, sys
who, count = sys.argv[1], int(sys.argv[2])
ack = os.open("acked-" + who, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
def said(*words):
    os.write(ack, (" ".join(words) + "\n").encode())
os.mkdir("d-" + who)
said("create", "d-" + who)
for i in range(count):
    a, b, c = ("d-%s/%s%d" % (who, x, i) for x in "abc")
    fd = os.open(a, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    said("create", a)
    os.write(fd, b"x" * 100)
    os.close(fd)
    os.rename(a, b)
    said("rename", a, b)
    os.chmod(b, 0o640)
    said("attr", b)
    os.link(b, c)
    said("link", b, c)
    os.close(os.open(c, os.O_RDONLY))
    said("open", c)
    os.unlink(b)
    said("remove", b)
    if i % 2:
        os.unlink(c)
        said("remove", c)
