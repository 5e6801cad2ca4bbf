# SPDX-License-Identifier: Apache-2.0
# Part of ../limits.sh.
import socket
for i in range(30):
    try:
        s = socket.create_connection(("%02d%s.wild.example" % (i, "s" * 60), 80))
        s.settimeout(60)
        s.recv(1)
    except OSError:
        pass
