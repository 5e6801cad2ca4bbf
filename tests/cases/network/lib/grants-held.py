# SPDX-License-Identifier: Apache-2.0
# Part of ../grants.sh: a connection under a grant, and one under a rule, before and after its end.
import os
import socket
import time


def alive(s):
    try:
        s.sendall(b"ping")
        return bool(s.recv(100))
    except OSError:
        return False


def connect(name):
    s = socket.create_connection((name, 3000))
    s.settimeout(60)
    s.recv(100)
    return s


granted, ruled = connect("a.wild.example"), connect("echo.example")
print(alive(granted), alive(ruled), flush=True)
open("held-first", "w").close()
while not os.path.exists("held-second"):
    time.sleep(0.05)
print(alive(granted), alive(ruled), flush=True)
