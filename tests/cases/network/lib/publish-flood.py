# SPDX-License-Identifier: Apache-2.0
# Part of ../publish-flood.sh.
#   serve PORT         takes 4 bytes of each connection and answers 6; one that sends nothing stays
#   ask PORT COUNT     COUNT connections, one after the other; prints how many were answered
#   hold PORT COUNT    COUNT at once; prints how many were turned away
#   sums               of the trail on stdin (JSON lines): by rule, what the records of connections
#                      say, "records connections sent received turned-away"
import json
import selectors
import socket
import sys


def serve(port):
    server = socket.create_server(("127.0.0.1", port), backlog=1024)
    loop = selectors.DefaultSelector()
    loop.register(server, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        for key, _ in loop.select():
            if key.fileobj is server:
                loop.register(server.accept()[0], selectors.EVENT_READ)
                continue
            if key.fileobj.recv(4) == b"four":
                key.fileobj.sendall(b"sixsix")
            loop.unregister(key.fileobj)
            key.fileobj.close()


def answered(port):
    try:
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"four")
            return s.recv(6, socket.MSG_WAITALL) == b"sixsix"
    except OSError:
        return False


def is_away(s):
    try:
        return s.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def held(port, count):
    kept = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    # They are taken in order: what is known of the last one is known of all.
    away = is_away(kept.pop())
    for s in kept:
        s.setblocking(False)
    return away + sum(is_away(s) for s in kept)


def sums():
    found = {}
    away = 0
    for line in sys.stdin:
        r = json.loads(line)
        if r["kind"] == "deny":
            away += r.get("connections", 0)
        if r["kind"] != "connect":
            continue
        row = found.setdefault(r["rule_text"], [0, 0, 0, 0])
        row[0] += 1
        # Alone: a record at the beginning, without a duration, and one at the end.
        row[1] += r["connections"] if "connections" in r else "duration" not in r
        row[2] += r.get("sent", 0)
        row[3] += r.get("received", 0)
    for rule in sorted(found):
        print(rule, *found[rule])
    print("turned away", away)


what, *rest = sys.argv[1:]
numbers = [int(n) for n in rest]
if what == "serve":
    serve(*numbers)
elif what == "ask":
    print(sum(answered(numbers[0]) for _ in range(numbers[1])))
elif what == "hold":
    print(held(*numbers))
else:
    sums()
