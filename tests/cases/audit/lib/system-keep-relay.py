#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of wardfs-auditd that asks for a time that no policy can say.

system-keep-relay.py LISTEN SERVICE KEEP: passes everything on between a wardfs that connects to
LISTEN and the service, but the number `keep` of its first message (enforcer/ipc/helper.h,
WARD_MSG_SYSTEM_OPEN), which becomes KEEP. One connection, until either side closes it.
"""
import array
import os
import select
import socket
import struct
import sys
import time

SYSTEM_OPEN = 64
listen, service, keep = sys.argv[1], sys.argv[2], int(sys.argv[3])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(listen)
listener.listen(1)
client, _ = listener.accept()
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect(service)


def send(target, data, fds):
    """The service takes descriptors only once it has a process for the connection."""
    beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)] if fds else []
    while True:
        try:
            target.sendmsg([data], beside)
            return
        except PermissionError:
            time.sleep(0.02)


def pass_on(source, target):
    """False: source is gone."""
    data, beside, _, _ = source.recvmsg(1 << 16, socket.CMSG_SPACE(4 * 16))
    fds = array.array("i")
    for level, kind, value in beside:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(value)
    if not data:
        return False
    if struct.unpack_from("=II", data)[1] == SYSTEM_OPEN:
        data = data[:-8] + struct.pack("=Q", keep)
    send(target, data, fds)
    for fd in fds:
        os.close(fd)
    return True


GOES_ON = True
while GOES_ON:
    ready, _, _ = select.select([client, server], [], [])
    for end in ready:
        GOES_ON = GOES_ON and pass_on(end, server if end is client else client)
