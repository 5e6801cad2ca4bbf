# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh.
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except OSError as e:
    sys.exit(type(e).__name__)
print(s.recv(100).decode(), end="")
