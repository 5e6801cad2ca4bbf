# SPDX-License-Identifier: Apache-2.0
"""attack-all.py SOCKET PID: answers all questions of standard input at once, lets PID go on, and prints
for the directory of each how many paths it may now make."""
import json
import os
import signal
import socket
import sys
import time

asked = []
for q in json.load(sys.stdin):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.send(json.dumps({"verb": "answer", "question": q["question"], "digest": q["digest"], "answer": "path"}).encode())
    asked.append((s, q))
time.sleep(1)
os.kill(int(sys.argv[2]), signal.SIGCONT)
for s, q in asked:
    s.settimeout(60)
    answer = json.loads(s.recv(65536))
    assert answer.get("ok") or answer.get("error"), answer
    print(os.path.basename(os.path.dirname(q["path"])), 8 if answer.get("ok") else 0)
