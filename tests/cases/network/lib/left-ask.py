# SPDX-License-Identifier: Apache-2.0
# Part of ../left.sh.
"""Asks each of these for a page, twice."""
import socket
import sys

for host in sys.argv[1:] * 2:
    try:
        with socket.create_connection((host, 80), timeout=60) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: " + host.encode() + b"\r\nConnection: close\r\n\r\n")
            while s.recv(4096):
                pass
    except OSError:
        pass
