# SPDX-License-Identifier: Apache-2.0
"""silent-session-fill.py SOCKET: connects until the queue of a listener that accepts nobody is
full."""
import socket
import sys

for _ in range(1000):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setblocking(False)
    try:
        s.connect(sys.argv[1])
    except BlockingIOError:
        sys.exit(0)
sys.exit("the queue does not become full")
