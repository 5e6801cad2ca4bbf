# SPDX-License-Identifier: Apache-2.0
# Part of ../attacks.sh.
import os, socket, time
def wait(name):
    for i in range(1200):
        if os.path.exists(name):
            return
        time.sleep(0.05)
open("flooding", "w").close()
wait("held")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(5000):
    try:
        s.sendto(b"x", ("203.0.113.10", 10000 + i))
    except OSError:
        pass
open("flooded", "w").close()
wait("let-go")
