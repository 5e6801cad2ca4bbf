# SPDX-License-Identifier: Apache-2.0
"""fleet-elsewhere.py PORT DIRECTORY: part of ../fleet.sh. Messages of a hostile sender: a node or a
session that leads out of the directory, lines that stand for more than one, numbers that make the
collector pass over what the node sends later, and the ledger once more. Nothing of it arrives. The
control is the node's own next line, which does.
"""
import glob
import json
import os
import socket
import sys

TOP = sys.argv[2]


def send(head, body, node="one"):
    """What the collector answers to one message."""
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as to:
        message = f"<110>1 t {node} wardfs 1 {head} ".encode() + body
        to.sendall(b"%d %s" % (len(message), message))
        to.shutdown(socket.SHUT_WR)
        try:
            return to.recv(1)
        except ConnectionResetError:
            return b""


def record(session, seq, body, node="one"):
    return send(f'k [w@1 session="{session}" seq="{seq}" mac=""]', body, node)


def files():
    return {f: os.path.getsize(f) for f in glob.glob(f"{TOP}/*/**", recursive=True) if os.path.isfile(f)}


before = files()
for place, name in ("../out", "x"), ("one", "../../out"), ("one", ".."), ("one/x", "x"), (".", "x"):
    record(name, 1, b'{"seq":1}', place)
trail = f"{TOP}/one/sessions/one-1/trail.jsonl"
with open(trail, "rb") as f:
    had = f.read().splitlines()
following = len(had) + 1
for seq, line in ((following + 1, {"seq": following + 1}), (10**17, {"seq": 10**17}),
                  (following, {"seq": 10**17}), (following, [following]), (1, {"seq": 1})):
    record("one-1", seq, json.dumps(line).encode())
record("one-1", following, b"no JSON")
record("one-1", following, b'{"seq":%d}\n{"seq":%d}' % (following, following + 1))
for kind, name in ("ledger", "ledger.jsonl"), ("ledger.checkpoints", "ledger.checkpoints"):
    with open(f"{TOP}/one/{name}", "rb") as f:
        data = f.read()
    first = data.splitlines()[0]
    # Once more is no fault, and changes nothing.
    assert send(f'{kind} [ledger@32473 at="0"]', first) == b"+"
    for head, body in (("-", first), ('[ledger@32473 at="0"]', first[:-1] + b"x"),
                       (f'[ledger@32473 at="{len(data) + 1}"]', first), ('[ledger@0 at="1"]', first),
                       (f'[ledger@32473 at="{len(data)}"]', first + b"\n" + first)):
        assert send(f"{kind} {head}", body) == b"", (head, body)
assert files() == before, set(files().items()) ^ set(before.items())
assert send(f'ledger.checkpoints [ledger@32473 at="{len(data)}"]', b"next") == b"+"
record("one-1", following, b'{"seq":%d}' % following)
now = files()
assert now[trail] > before[trail] and now[f"{TOP}/one/ledger.checkpoints"] == len(data) + 5
