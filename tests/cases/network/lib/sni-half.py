# SPDX-License-Identifier: Apache-2.0
"""Sends half a request line, says so by a file, and waits."""
import socket
import time

s = socket.create_connection(("web.example", 80))
s.sendall(b"GET /half")
open("sent", "w").close()
time.sleep(600)
