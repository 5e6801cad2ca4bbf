# SPDX-License-Identifier: Apache-2.0
"""approve-send.py SOCKET QUESTION DIGEST ANSWER: sends the answer, and prints what comes back."""
import json
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
    s.connect(sys.argv[1])
    s.send(json.dumps({"verb": "answer", "question": sys.argv[2], "digest": sys.argv[3],
                       "answer": sys.argv[4]}).encode())
    print(s.recv(65536).decode())
