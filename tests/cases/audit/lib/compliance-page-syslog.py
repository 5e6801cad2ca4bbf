# SPDX-License-Identifier: Apache-2.0
# Part of ../compliance-page.sh.
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("../log.new")
os.rename("../log.new", "../log")
with open("../logged", "wb", buffering=0) as f:
    while True:
        f.write(s.recv(1 << 20) + b"\n")
