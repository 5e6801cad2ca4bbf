# SPDX-License-Identifier: Apache-2.0
# Part of ../attacks.sh.
# As many connections as the broker can have, and more.
import errno, socket, time
def one():
    try:
        s = socket.create_connection(("echo.example", 3000))
        s.settimeout(60)
        return s if s.recv(100) else None
    except OSError:
        return None
held, refused = [], 0
while refused < 20 and len(held) < 2000:
    s = one()
    if s:
        held.append(s)
    else:
        refused += 1
# The other listeners, now: none of them hangs, and none of them keeps the loop busy.
for port in (3128, 53):
    s = socket.create_connection(("198.18.0.1", port))
    s.settimeout(60)
    try:
        s.sendall(b"\x05")
        print("reset" if not s.recv(10) else "answered")
    except OSError as e:
        print("reset" if e.errno in (errno.ECONNRESET, errno.EPIPE) else e)
print("full" if refused and 20 < len(held) < 2000 else len(held), held[0].send(b"x") and held[0].recv(10))
open("full", "w").close()
while not __import__("os").path.exists("measured"):
    time.sleep(0.05)
for s in held:
    s.close()
for i in range(1200):
    s = one()
    if s:
        print("again")
        break
    time.sleep(0.05)
