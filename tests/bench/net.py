#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""net.py BUILD DIR: what the broker costs, in the caller's network namespace (root; bench.py makes one).

Prints lines "NAME VALUE": direct and through the broker of a session, one after the other. The same
program is server and client in both; a client takes its own time, without the start of a session.

  start-none, start-allowlist   seconds of `run -- true`
  stream-direct, -guarded       seconds of one stream of STREAM bytes
  short-direct, -guarded        seconds of SHORT connections, one after the other
  many-MB                       memory of wardfs-net with MANY streams that nobody reads, Pss in MB
"""
import os
import socket
import socketserver
import statistics
import subprocess
import sys
import threading
import time

ADDRESS, PORT = "192.0.2.10", 5001
STREAM = 1 << 30
SHORT = 10000
MANY = 1000
UNREAD = 1 << 20  # bytes for each of MANY: more than sockets on the way can hold
STARTS = 5
POLICY = """[policy]
version = 1
extends = medium
[limits]
open-files = 8192
[network]
mode = {mode}
"""
ALLOW = f"allow = {ADDRESS}/32:{PORT}\n"


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        want = self.request.recv(16)
        left = int(want or b"0")
        piece = b"x" * min(left, 1 << 20)
        try:
            while left:
                left -= self.request.send(piece[:left])
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 4096


def connect(size):
    s = socket.create_connection((ADDRESS, PORT))
    s.sendall(b"%d" % size)
    return s


def read_all(s, size):
    buffer = bytearray(1 << 20)
    while size:
        n = s.recv_into(buffer)
        if not n:
            sys.exit(f"the stream ended {size} bytes early")
        size -= n
    s.close()


def client(what):
    began = time.monotonic()
    if what == "stream":
        read_all(connect(STREAM), STREAM)
    elif what == "short":
        for _ in range(SHORT):
            read_all(connect(1), 1)
    else:
        all_of_them = [connect(UNREAD) for _ in range(MANY)]
        with open("held", "w", encoding="ascii"):
            pass
        while not os.path.exists("measured"):
            time.sleep(0.01)
        for s in all_of_them:
            read_all(s, UNREAD)
    print(time.monotonic() - began)


def pss_of_broker(supervisor):
    """Bytes of all processes called wardfs-net that descend from it."""
    parents, names = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        names[int(pid)] = text[text.index("(") + 1:text.rindex(")")]
        parents[int(pid)] = int(text[text.rindex(")") + 2:].split()[1])
    total = 0
    for pid, name in names.items():
        above = pid
        while above not in (0, supervisor):
            above = parents.get(above, 0)
        # A child of a broker's child belongs to pid 1 where its parent is gone; none is.
        if name == "wardfs-net" and above == supervisor:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
                total += sum(int(line.split()[1]) * 1024 for line in f if line.startswith("Pss:"))
    return total


def main(build, where):
    me = os.path.abspath(__file__)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo"], check=True)
    os.makedirs(where, exist_ok=True)
    os.chdir(where)
    for mode in "none", "allowlist":
        with open(f"{mode}.policy", "w", encoding="ascii") as f:
            f.write(POLICY.format(mode=mode) + (ALLOW if mode == "allowlist" else ""))
    with open(me, encoding="utf-8") as f, open("net.py", "w", encoding="utf-8") as out:
        out.write(f.read())
    server = Server((ADDRESS, PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    guarded = [f"{build}/wardfs", "run", "--policy", "allowlist.policy", "--"]
    argv = ["/usr/bin/python3", "net.py", "client"]
    times = {"none": [], "allowlist": []}
    for _ in range(STARTS):
        for mode, values in times.items():
            began = time.monotonic()
            subprocess.run([f"{build}/wardfs", "run", "--policy", f"{mode}.policy", "--", "true"],
                           check=True, stdin=subprocess.DEVNULL)
            values.append(time.monotonic() - began)
    for mode, values in times.items():
        print(f"start-{mode}", statistics.median(values))
    for what in "stream", "short":
        for name, before in ("direct", []), ("guarded", guarded):
            out = subprocess.run(before + argv + [what], check=True, stdout=subprocess.PIPE,
                                 stdin=subprocess.DEVNULL, encoding="ascii").stdout
            print(f"{what}-{name}", float(out))
    with subprocess.Popen(guarded + argv + ["many"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as session:
        while not os.path.exists("held") and session.poll() is None:
            time.sleep(0.01)
        time.sleep(1)  # what is on the way arrives
        print("many-MB", pss_of_broker(session.pid) / 1e6)
        with open("measured", "w", encoding="ascii"):
            pass
    if session.returncode:
        sys.exit("many: not all streams came whole")
    for name in "held", "measured":
        os.unlink(name)


if sys.argv[1] == "client":
    client(sys.argv[2])
else:
    main(sys.argv[1], sys.argv[2])
