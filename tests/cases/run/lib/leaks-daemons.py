# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh.
import os, socket, sys
made = []
for name in sys.argv[2:]:
    os.makedirs(os.path.dirname(name), exist_ok=True)
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    os.chmod(name, 0o666)
    s.listen(5)
    made.append(s)
open(sys.argv[1], "w")
while not os.path.exists("stop"):
    for s in made:
        s.settimeout(0.02)
        try:
            s.accept()[0].sendall(b"reached\n")
        except TimeoutError:
            pass
