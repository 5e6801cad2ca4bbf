# SPDX-License-Identifier: Apache-2.0
"""warm-ask.py SOCKET WHAT: speaks to a prepared session as no client of wardfs would. Prints what
it is answered, a line each; "hung up" at the end of the connection."""
import array
import json
import os
import socket
import sys


def hear(s):
    try:
        data = s.recv(65536)
    except ConnectionError:
        data = b""
    print(data.decode() if data else "hung up", flush=True)
    return data


def memfd(data, seal):
    fd = os.memfd_create("x", os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    if seal:
        import fcntl
        fcntl.fcntl(fd, 1033, 0xf)
    return fd


path, what = sys.argv[1:3]
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(30)
s.connect(path)
key = sys.argv[3] if len(sys.argv) > 3 else "0" * 64
try:
    s.send(json.dumps({"verb": "take", "key": key}).encode())
except BrokenPipeError:  # refused before it had asked
    print("hung up")
    sys.exit(1)
if b"ready" not in hear(s):
    sys.exit(1)
if what == "hang-up":
    sys.exit(0)
if what == "hold":
    sys.stdin.read()
    sys.exit(0)
fds = {"no-fds": [],
       "few": [memfd(b"x", True), 0],
       "nonsense": [memfd(b"nonsense", True), 0, 1, 2],
       "unsealed": [memfd(b"nonsense", False), 0, 1, 2],
       "directory": [os.open("/", os.O_RDONLY), 0, 1, 2]}[what]
s.sendmsg([b'{"go":true}'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
hear(s)
