# SPDX-License-Identifier: Apache-2.0
# Part of ../reload.sh.
import os, socket, time
def wait(name):
    for i in range(1200):
        if os.path.exists(name):
            return
        time.sleep(0.05)
    raise SystemExit("no " + name)
def alive(s):
    try:
        s.sendall(b"ping")
        return bool(s.recv(100))
    except OSError:
        return False
def connect(name):
    try:
        s = socket.create_connection((name, 3000)); s.settimeout(60); s.recv(100)
        return s
    except OSError:
        return None
a, b = connect("echo.example"), connect("a.wild.example")
print(alive(a), alive(b), connect("web.example"))
open("first", "w").close()
wait("second")
print(alive(a), alive(b), connect("a.wild.example"), connect("web.example") is not None)
