# SPDX-License-Identifier: Apache-2.0
# Part of ../anchors.sh.
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    data, out = s.recv(65536), {}
    while data:
        line, _, data = data.partition(b"\n")
        name, eq, value = line.partition(b"=")
        if not eq:
            n = struct.unpack("<Q", data[:8])[0]
            value, data = data[8:8 + n], data[9 + n:]
        out[name.decode()] = value.decode()
    with open(sys.argv[2], "a", encoding="utf-8") as f:
        f.write(repr(out) + "\n")
