#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks for one host twenty times, then for one that needs no question."""
import os
import select
import socket
import time

held = []
refused = 0
for _ in range(20):
    s = socket.socket()
    s.settimeout(60)
    try:
        s.connect(("a.wild.example", 3000))
        held.append(s)
    except ConnectionResetError:
        refused += 1
# What is refused at once is reset; two wait.
end = time.monotonic() + 100
while refused < 18 and time.monotonic() < end:
    for s in select.select(held, [], [], 1)[0]:
        try:
            refused += not s.recv(100)
        except OSError:
            refused += 1
        held.remove(s)
s = socket.create_connection(("203.0.113.10", 3000), 60)
print("refused", refused, flush=True)
print("served", s.makefile().readline().strip(), flush=True)
while not os.path.exists("go"):
    time.sleep(0.1)
