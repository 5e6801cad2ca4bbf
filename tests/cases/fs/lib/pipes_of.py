# SPDX-License-Identifier: Apache-2.0
# Part of ../pipes.sh.
import errno
import os
import select
import socket


def pipe(path):
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b"x")
        return "written"
    except OSError as e:
        return errno.errorcode[e.errno]


def connect(path):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        return "connected"
    except OSError as e:
        return errno.errorcode[e.errno]


def serve(where):
    os.mkfifo(where + "/pipe")
    reader = os.open(where + "/pipe", os.O_RDONLY | os.O_NONBLOCK)
    server = socket.socket(socket.AF_UNIX)
    server.bind(where + "/socket")
    server.listen()
    return reader, server


def heard(reader, server):
    return [bool(select.select([at], [], [], 0)[0]) for at in (reader, server)]
