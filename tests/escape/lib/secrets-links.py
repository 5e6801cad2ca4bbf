# SPDX-License-Identifier: Apache-2.0
"""Part of ../secrets.sh: tries to give files one name under a rule of `secret` and another that is not."""
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def attempt(f, *a):
    try:
        f(*a)
    except OSError as e:
        assert e.errno == 18, e


def link_open(fd, p):
    if libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, p.encode(), 0x400):
        raise OSError(ctypes.get_errno(), "linkat")


def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2):
        raise OSError(ctypes.get_errno(), "renameat2")


for n in range(6):
    secret, seen, third = "%d.pem" % n, "seen%d" % n, "third%d" % n
    first, second = ((secret, seen), (seen, secret))[n % 2]
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR) if n < 2 else os.open(first, os.O_CREAT | os.O_RDWR)
    if n < 2:
        link_open(fd, first)
        attempt(link_open, fd, second)
    elif n < 4:
        attempt(os.link, first, second)
    else:
        other = third + (".pem" if first == secret else "")
        os.link(first, other)
        attempt(os.rename, other, second)
        open(second, "x").close()
        attempt(exchange, other, second)
    if not os.path.exists(secret):
        open(secret, "x").close()
os.mkdir("d")
open("d/f", "x").close()
os.link("d/f", "seen")
attempt(os.rename, "d", "d.pem")
