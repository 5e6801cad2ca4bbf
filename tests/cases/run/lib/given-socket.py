# SPDX-License-Identifier: Apache-2.0
# Part of ../given.sh: a command whose 0 and 1 are a socket of the host.
import os, signal, socket, subprocess


def start(a, b, *cmd):
    p = subprocess.Popen([os.environ["WARDFS"], "run", "--", *cmd], stdin=b, stdout=b)
    b.close()
    return p


a, b = socket.socketpair()
p = start(a, b, "sh", "-c", "cat; echo over")
a.sendall(b"hello\n")
a.shutdown(socket.SHUT_WR)
said = b""
while more := a.recv(4096):
    said += more
assert said == b"hello\nover\n" and p.wait() == 0, (said, p.returncode)

a, b = socket.socketpair()
p = start(a, b, "yes")
a.recv(10)
a.close()
assert p.wait() == 128 + signal.SIGPIPE, p.returncode
