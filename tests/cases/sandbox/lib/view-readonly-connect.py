# SPDX-License-Identifier: Apache-2.0
# Part of ../view-readonly.sh.
import os, socket
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(os.path.dirname(os.path.abspath(__file__)) + "/sock")
    print("connected")
except OSError:
    print("refused")
