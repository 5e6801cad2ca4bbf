# SPDX-License-Identifier: Apache-2.0
"""Says HOST on port 3000 of both loopback addresses. The file "serves" is there when it listens."""
import socket
import threading


def serve(listener):
    while True:
        sock, _ = listener.accept()
        sock.sendall(b"HOST\n")
        sock.close()


for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
    threading.Thread(target=serve, args=(socket.create_server((address, 3000), family=family),)).start()
with open("serves", "w"):
    pass
