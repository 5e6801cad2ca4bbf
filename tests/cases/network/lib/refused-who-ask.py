# SPDX-License-Identifier: Apache-2.0
# Part of ../refused-who.sh.
"""Forty attempts that nothing answers, each by a process with a name of its own."""
import errno
import os
import select
import socket
import sys

wrong_port = socket.getaddrinfo("web.example", 81, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]


def attempt(n):
    v6 = n % 4 == 1
    address = "2001:db8:7::7" if v6 else wrong_port if n % 4 == 2 else "192.0.2.7"
    s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET)
    if n % 2:
        return s.connect_ex((address, 5000 + n))
    s.setblocking(False)
    result = s.connect_ex((address, 5000 + n))
    if result != errno.EINPROGRESS:
        return result
    select.select([], [s], [], 60)
    return s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


if sys.argv[1:] == ["leave"]:
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("192.0.2.8", 6000))
    os._exit(0)
for n in range(40):
    pid = os.fork()
    if pid == 0:
        with open("/proc/self/comm", "w", encoding="ascii") as f:
            f.write(f"ask-{n}")
        os._exit(0 if attempt(n) == errno.ECONNREFUSED else 1)
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"attempt {n} was not refused")
