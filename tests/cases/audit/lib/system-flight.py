# SPDX-License-Identifier: Apache-2.0
"""system-flight.py SOCKET N [TEXT]: N connections at once, each with a TCP socket in flight that
whoever closes it last has to wait for: SO_LINGER, and a peer that does not read. TEXT goes with it.
N = 0: the control, a process that closes such a socket. Prints a word when it is done."""
import array
import os
import socket
import struct
import sys
import time

path, n = sys.argv[1], int(sys.argv[2])
text = (sys.argv[3] if len(sys.argv) > 3 else "x").encode()
listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
peers = []


def slow():
    """A socket with data that nobody reads; its close takes an hour."""
    s = socket.create_connection(listener.getsockname())
    peers.append(listener.accept())
    s.setblocking(False)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    try:
        while True:
            s.send(bytes(1 << 16))
    except BlockingIOError:
        pass
    return s.detach()


if n == 0:
    s = slow()
    print("closes", flush=True)
    os.close(s)
    print("closed", flush=True)
    sys.exit()

kept = [slow() for _ in range(n)]
for fd in kept:
    if os.fork() == 0:
        for other in kept:
            if other != fd:
                os.close(other)
        time.sleep(1)
        c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
        try:
            c.connect(path)
            c.sendmsg([text], rights)
        except OSError:
            pass
        # A process that ends does not wait for its own.
        os._exit(0)
for fd in kept:
    os.close(fd)
print("sent", flush=True)
time.sleep(3600)
