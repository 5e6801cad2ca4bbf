# SPDX-License-Identifier: Apache-2.0
"""approve-nonsense.py SOCKET: a bus that answers with what is no message, a different one to each."""
import socket
import struct
import sys

HELLO = b"OK 0123\r\nAGREE_UNIX_FD\r\n"
SAYS = [b"REJECTED EXTERNAL\r\n", HELLO + bytes(4096), HELLO + b"l\4\0\1" + b"\xff" * 12,
        HELLO + struct.pack("<cBBBIII", b"l", 4, 0, 1, 0, 1, 24) + b"\xff" * 24,
        HELLO + struct.pack("<cBBBIII", b"l", 2, 0, 1, 65000, 1, 65000) + bytes(200000), HELLO[:3]]

s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(8)
kept = []
for n in range(1 << 30):
    c = s.accept()[0]
    try:
        c.sendall(SAYS[n % len(SAYS)])
    except OSError:
        pass  # it has heard enough
    kept.append(c)
    print(n, flush=True)
