# SPDX-License-Identifier: Apache-2.0
"""Asks the broker of ../deno-broker.sh: each argument is a question, or what is none."""
import json
import os
import socket
import sys
import time

PATH = os.environ.get("DENO_PERMISSION_BROKER_PATH")


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(PATH)
    return s, s.makefile("r")


def send(text):
    try:
        conn.sendall(text.encode() + b"\n")
        line = answers.readline()
    except OSError:
        line = ""
    if not line:
        return "closed"
    answer = json.loads(line)
    assert set(answer) <= {"id", "result", "reason"}, answer
    assert "id" not in answer or answer["id"] == number, answer
    return answer["result"]


if not PATH:
    print("no broker", file=sys.stderr)
    sys.exit(1)
conn, answers = connect()
number = 0
for arg in sys.argv[sys.argv.index("x.ts") + 1:]:
    what, _, value = arg.partition(" ")
    number += 1
    if what == "chdir":
        os.chdir(value)
    elif what == "again":
        conn, answers = connect()
    elif what == "many":
        held = [connect() for _ in range(int(value))]
        del held
        conn, answers = connect()
    elif what == "raw":
        print(f"{arg}: {send(value)}")
    elif what == "long":
        print(f"{arg}: {send('x' * int(value))}")
    elif what == "await":
        while not os.path.exists(value):
            time.sleep(0.05)
    elif what == "make":
        with open(value, "w"):
            pass
    elif what == "flood":
        # Long to answer, short to ask, and never more of them than the answers' socket holds.
        line = b'{"v":1,"id":1,"permission":"read","value":"' + b"/".join([b"b"] * 1500) + b'"}\n'
        begin, done = time.monotonic(), 0
        try:
            while done < int(value):
                conn.sendall(line * 8)
                if not all(answers.readline() for _ in range(8)):
                    break
                done += 8
        except OSError:
            pass
        print(f"{arg}: {'all' if done >= int(value) else 'closed'} {int((time.monotonic() - begin) * 1000)}")
    elif what == "path":
        print(f"{arg}: " + (send(json.dumps({"v": 1, "id": number, "permission": "read", "value": "x" * int(value)}))
                            if value else ""))
    else:
        print(f"{arg}: " + send(json.dumps({"v": 1, "pid": os.getpid(), "id": number, "datetime": "",
                                            "permission": what, "value": value or None})))
