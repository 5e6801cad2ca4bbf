#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a service as systemd does with a socket unit: listens, becomes another user, executes.

activate.py SOCKET UID PROGRAM [ARG…]: the program has the listening SOCK_SEQPACKET socket as
descriptor 3 (sd_listen_fds(3)); who connects sees that root listens.
"""
import os
import socket
import sys

path, uid = sys.argv[1], int(sys.argv[2])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
# Under its own name only once it listens: who waits for the file can connect.
listener.bind(path + ".new")
os.chmod(path + ".new", 0o666)
listener.listen(128)
os.rename(path + ".new", path)
if listener.fileno() != 3:
    os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
os.execv(sys.argv[3], sys.argv[3:])
