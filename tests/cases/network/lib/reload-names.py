# SPDX-License-Identifier: Apache-2.0
# Part of ../reload.sh.
import os, socket, time
def ask(s, host):
    try:
        s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host)
        got = b""
        while not got.endswith(b"\n") or b"hello" not in got:
            more = s.recv(1000)
            if not more:
                return "ended"
            got += more
        return got.split(b"\n")[-2].decode()
    except OSError:
        return "reset"
good, bad = [socket.create_connection(("web.example", 80)) for i in range(2)]
for s in good, bad:
    s.settimeout(60)
print(ask(good, b"web.example"), ask(bad, b"other.example"))
open("asked", "w").close()
for i in range(1200):
    if os.path.exists("stricter"):
        break
    time.sleep(0.05)
print(ask(good, b"web.example"), ask(bad, b"web.example"), ask(good, b"other.example"))
