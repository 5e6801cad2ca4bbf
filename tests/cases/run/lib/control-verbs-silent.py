# SPDX-License-Identifier: Apache-2.0
# Part of ../control-verbs.sh: SESSION. Twelve clients connect and say nothing. Prints what happens
# to another one that asks, to the four that came first, and to the seven that ask at last.
# The fifth may have given its place to the one that asks.
import json, os, socket, sys
base = os.environ.get("XDG_RUNTIME_DIR", "/run") + "/wardfs"


def client():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.path.join(base, sys.argv[1], "control"))
    return s


def ask(s):
    s.send(b'{"verb":"status"}')
    return json.loads(s.recv(65536))["session"]


silent = [client() for _ in range(12)]
asked = ask(client())
gone = [s.recv(65536) for s in silent[:4]]
print(asked, gone.count(b""), [ask(s) for s in silent[5:]].count(asked))
