# SPDX-License-Identifier: Apache-2.0
"""A witness as C2SP tlog-witness, tlog-cosignature and signed-note have it, on loopback.

witness.py SUPPORT LOGVKEY DIR: writes DIR/vkey and DIR/port, then serves; DIR/state is what it cosigned last. The prefix
of the URL says how it behaves: /w as it should; /wrong signs something else; /others gives lines of others too; /none
gives those alone; /huge and /garbage answer no HTTP that a client takes; /teapot answers 418; /more answers 409 with a size
that no ledger has, /less 422; /reset and /half reset the connection, before the answer and in it.
"""
import base64
import http.server
import os
import re
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, sys.argv[1])
import ledger_notes  # noqa: E402
import verify as v  # noqa: E402

log, where = ledger_notes.from_text(v, sys.argv[2]), sys.argv[3]
NAME = "witness.example/w1"
seed = os.urandom(32)
DER = bytes.fromhex("302e020100300506032b657004220420")
with open(where + "/seed", "wb") as f:
    f.write(DER + seed)
public = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input=DER + seed,
                        stdout=subprocess.PIPE, check=True).stdout[-32:]
key = ledger_notes.LedgerKey(v, NAME, public, 4)


def sign(text):
    with open(where + "/text", "wb") as f:
        f.write(text)
    return subprocess.run(["openssl", "pkeyutl", "-sign", "-keyform", "DER", "-inkey", where + "/seed", "-rawin", "-in",
                           where + "/text"], stdout=subprocess.PIPE, check=True).stdout


def state():
    if not os.path.exists(where + "/state"):
        return 0, v.sha(b"")
    with open(where + "/state", encoding="ascii") as f:
        size, root = f.read().split()
    return int(size), bytes.fromhex(root)


def judge(body):
    """(status, body) of add-checkpoint."""
    head, _, text = body.partition(b"\n\n")
    lines = head.split(b"\n")
    old = re.fullmatch(rb"old (0|[1-9][0-9]*)", lines.pop(0))
    path = [v.strict64(line) for line in lines]
    note, rest = ledger_notes.take(v, text)
    if not old or None in path or any(len(p) != 32 for p in path) or len(path) > 63 or not note or rest:
        return 400, b"form"
    if note.origin != log.name:
        return 404, b"unknown"
    if ledger_notes.check(v, note, log) != "good":
        return 403, b"signature"
    old, (size, root) = int(old[1]), state()
    if old > note.size:
        return 400, b"old size"
    if old != size:
        return 409, b"%d\n" % size
    if size == 0:
        good = not path and (note.size > 0 or note.root == v.sha(b""))
    else:
        good = v.two_roots(size, note.size, root, path, True) == (root, note.root)
    if not good:
        return 422, b"inconsistent"
    with open(where + "/state", "w", encoding="ascii") as f:
        print(note.size, note.root.hex(), file=f)
    now = int(time.time())
    sig = sign(f"cosignature/v1\ntime {now}\n".encode() + note.body)
    return 200, ledger_notes.DASH + NAME.encode() + b" " + base64.b64encode(key.id + now.to_bytes(8, "big") + sig) + b"\n"


class Witness(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        prefix, _, verb = self.path[1:].rpartition("/")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = judge(body) if verb == "add-checkpoint" else (404, b"")
        others = ledger_notes.DASH + b"other.example/w " + base64.b64encode(os.urandom(76)) + b"\n"
        if prefix == "wrong" and status == 200:
            line = base64.b64decode(answer.split(b" ")[2])
            answer = ledger_notes.DASH + NAME.encode() + b" " + base64.b64encode(line[:-1] + bytes([line[-1] ^ 1])) + b"\n"
        elif prefix == "others" and status == 200:
            answer = others + answer + others
        elif prefix == "none":
            answer = others
        elif prefix == "huge":
            answer = b"x" * 200000
        elif prefix == "teapot":
            status = 418
        elif prefix == "more":
            status, answer = 409, b"1000000\n"
        elif prefix == "less":
            status, answer = 422, b"inconsistent"
        if prefix in ("reset", "half"):
            if prefix == "half":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n" + answer[:40])
                self.wfile.flush()
            # Closed with this option, a connection is reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        if prefix == "garbage":
            self.wfile.write(b"\0\1\2 no HTTP\r\n\r\n")
            return
        self.send_response(status)
        if status == 409:
            self.send_header("Content-Type", "text/x.tlog.size")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Witness)
with open(where + "/vkey", "w", encoding="ascii") as f:
    print(f"{NAME}+{key.id.hex()}+{base64.b64encode(bytes([4]) + public).decode()}", file=f)
with open(where + "/port.new", "w", encoding="ascii") as f:
    print(server.server_address[1], file=f)
os.rename(where + "/port.new", where + "/port")
server.serve_forever()
