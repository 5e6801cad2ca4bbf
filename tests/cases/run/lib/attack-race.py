# SPDX-License-Identifier: Apache-2.0
"""attack-race.py SOCKET QUESTION DIGEST: eight processes answer at once, half of them yes.

Prints the result that counts. Exactly one of them may be told that it counts.
"""
import json
import multiprocessing
import socket
import sys


def answer(barrier, said, n):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect(sys.argv[1])
        text = json.dumps({"verb": "answer", "question": sys.argv[2], "digest": sys.argv[3],
                           "answer": "no" if n % 2 else "path"}).encode()
        barrier.wait()
        s.send(text)
        try:
            said.put((n, json.loads(s.recv(65536) or b"{}")))
        except ConnectionResetError:
            said.put((n, {}))  # the session has ended


context = multiprocessing.get_context("fork")
start, told = context.Barrier(8), context.Queue()
all_of_them = [context.Process(target=answer, args=(start, told, n)) for n in range(8)]
for p in all_of_them:
    p.start()
answers = [told.get(timeout=60) for _ in all_of_them]
for p in all_of_them:
    p.join()
good = [(n, a) for n, a in answers if a.get("ok")]
assert len(good) == 1, answers
assert good[0][1]["result"] == ("refused" if good[0][0] % 2 else "granted"), good
for n, a in answers:
    if a and not a.get("ok"):
        assert "another answer came first" in a["error"] or "no such question" in a["error"], a
print(good[0][1]["result"])
