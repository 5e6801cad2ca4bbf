# SPDX-License-Identifier: Apache-2.0
# Part of ../export-to.sh.
import os, re, socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
with open("port.new", "w") as f:
    f.write(str(s.getsockname()[1]))
os.rename("port.new", "port")
rude = sys.argv[1] == "rude"
out = open("got", "a")
while True:
    c, _ = s.accept()
    buf, n = b"", 0
    while True:
        data = c.recv(65536)
        if not data:
            break
        buf += data
        while (m := re.match(rb"(\d+) ", buf)) and len(buf) >= m.end() + int(m[1]):
            msg, buf = buf[m.end():m.end() + int(m[1])], buf[m.end() + int(m[1]):]
            out.write(re.search(rb'seq="(\d+)"', msg)[1].decode() + "\n")
            n += 1
        out.flush()
        if rude and n > 200:
            rude = False
            break
        while n > 200 and not os.path.exists("go"):
            time.sleep(0.02)
    c.close()
