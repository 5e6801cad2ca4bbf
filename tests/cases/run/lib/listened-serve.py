#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of ../listened.sh.
"""Listens on port ARG1 of the loopback of family ARG2, or no more (ARG3: gone), until `stop`."""
import os
import socket
import sys
import time

s = socket.socket(socket.AF_INET6 if sys.argv[2] == "6" else socket.AF_INET)
s.bind(("::1" if sys.argv[2] == "6" else "127.0.0.1", int(sys.argv[1])))
s.listen()
if sys.argv[3] == "gone":
    s.close()
open("ready", "w").close()
while not os.path.exists("stop"):
    time.sleep(0.1)
