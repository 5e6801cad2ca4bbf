# SPDX-License-Identifier: Apache-2.0
# Part of ../limits.sh.
import socket
open3 = []
def one():
    s = socket.create_connection(("echo.example", 3000)); s.settimeout(60)
    return s if s.recv(100) else None
for i in range(3):
    open3.append(one())
try:
    print(one())
except OSError:
    print("refused")
open3.pop().close()
import time
for i in range(600):
    try:
        print("again" if one() else ""); break
    except OSError:
        time.sleep(0.05)
