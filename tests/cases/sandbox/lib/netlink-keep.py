# SPDX-License-Identifier: Apache-2.0
"""Keeps answers of netlink sockets unread: PROCESSES SOCKETS ASKS [SECONDS]. Prints MiB that it has."""
import os
import socket
import struct
import sys
import time

processes, sockets, asks = (int(a) for a in sys.argv[1:4])
seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 0
# RTM_GETLINK for lo
ask = struct.pack("IHHII", 32, 18, 1, 1, 0) + struct.pack("BxHiII", 0, 0, 1, 0, 0)


def fill():
    kept = []
    for _ in range(sockets):
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        s.setblocking(False)
        kept.append(s)
        for _ in range(asks):
            try:
                s.send(ask)
            except OSError:
                break
    rmem = 0
    with open("/proc/self/net/netlink", encoding="ascii") as f:
        for line in list(f)[1:]:
            rmem += int(line.split()[4])
    print(rmem >> 20, flush=True)
    time.sleep(seconds)
    return kept


for _ in range(processes):
    if os.fork() == 0:
        fill()
        os._exit(0)
for _ in range(processes):
    os.wait()
