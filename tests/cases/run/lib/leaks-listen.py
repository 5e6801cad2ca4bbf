# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh.
import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind("host.sock")
s.listen(5)
open("listening", "w")
while not os.path.exists("stop"):
    s.settimeout(0.2)
    try:
        s.accept()[0].sendall(b"reached\n")
    except TimeoutError:
        pass
