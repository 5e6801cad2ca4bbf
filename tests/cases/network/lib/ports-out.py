# SPDX-License-Identifier: Apache-2.0
# Part of ../ports.sh.
import errno, socket
for address in "127.0.0.1", "198.18.0.1", "192.0.2.1":
    for port in 8081, 11434:
        try:
            print("connected", socket.create_connection((address, port), 20))
        except OSError as e:
            print(errno.errorcode.get(e.errno, e))
