# SPDX-License-Identifier: Apache-2.0
# Part of ../offline.sh.
import socket, sys
try:
    if sys.argv[1] == "name":
        socket.getaddrinfo("web.example", 80)
    else:
        socket.create_connection((sys.argv[1], 9), 20)
except OSError as e:
    sys.exit(f"tried: {e}")
