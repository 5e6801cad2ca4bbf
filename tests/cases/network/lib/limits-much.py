# SPDX-License-Identifier: Apache-2.0
# Part of ../limits.sh.
import hashlib, os, socket, sys, threading
# Random bytes could begin as a TLS record does, and be refused for that.
GREETING = b"SSH-2.0-much\n"
size = int(sys.argv[1])
s = socket.create_connection(("echo.example", 3000))
hello = b"SERVER-FIRST\n"
while hello:
    hello = hello[len(s.recv(len(hello))):]
sent, got = hashlib.sha256(), hashlib.sha256()
def send():
    left = size
    try:
        while left:
            data = os.urandom(min(left, 1 << 20))
            if left == size:
                data = GREETING + data[len(GREETING):]
            s.sendall(data)
            sent.update(data)
            left -= len(data)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
t = threading.Thread(target=send)
t.start()
n = 0
try:
    while data := s.recv(1 << 20):
        got.update(data)
        n += len(data)
except OSError as e:
    print("ended", e.strerror)
t.join()
print(n == size and sent.digest() == got.digest())
