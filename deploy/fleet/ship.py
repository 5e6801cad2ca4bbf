#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ship.py [--wardfs PROGRAM] [--at-once N] STATE CURSORS HOST:PORT

Sends the trails and the ledger in the state directory STATE to a collector, and remembers in the
directory CURSORS how far it came. STATE is /var/lib/wardfs, or /var/lib/wardfs-audit/UID of the
node's writer. Call it again, from cron for example: it sends what is new. Exits with 1 if a part did
not arrive.
"""
import argparse
import concurrent.futures
import datetime
import os
import re
import socket
import subprocess
import sys

# As wardfs names sessions; anything else could be an option.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


def export(args, name):
    """The cursor file of a session that was sent whole stays as it is."""
    command = [args.wardfs, "audit", "export", "--state", args.state, "--to", "tcp:" + args.to,
               "--cursor", os.path.join(args.cursors, name), name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        print(f"ship.py: {name}: {done.stderr.strip()}", file=sys.stderr)
    return done.returncode == 0


def lines_from(path, at):
    """Whole lines behind byte `at`, and where they end."""
    with open(path, "rb") as f:
        f.seek(at)
        data = f.read()
    data = data[:data.rfind(b"\n") + 1]
    return data.split(b"\n")[:-1], at + len(data)


def send_file(args, kind, name):
    """A file that only grows. Its cursor moves when the collector says that it has all."""
    cursor = os.path.join(args.cursors, "." + name)
    at = 0
    if os.path.exists(cursor):
        with open(cursor, encoding="ascii") as f:
            at = int(f.read())
    lines, end = lines_from(os.path.join(args.state, name), at)
    if not lines:
        return
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    host, port = args.to.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as to:
        for line in lines:
            message = f"<110>1 {now} {socket.gethostname()} wardfs {os.getpid()} {kind} [ledger@32473 at=\"{at}\"] ".encode() + line
            at += len(line) + 1
            to.sendall(b"%d " % len(message) + message)
        to.shutdown(socket.SHUT_WR)
        if to.recv(1) != b"+":
            raise OSError(f"the collector did not take {name}")
    with open(cursor + ".new", "w", encoding="ascii") as f:
        f.write(str(end))
    os.rename(cursor + ".new", cursor)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wardfs", default="wardfs")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("state")
    parser.add_argument("cursors")
    parser.add_argument("to")
    args = parser.parse_args()
    os.makedirs(args.cursors, mode=0o700, exist_ok=True)
    found = sorted(os.listdir(os.path.join(args.state, "sessions")))
    names = [name for name in found if NAME.fullmatch(name)]
    for name in set(found) - set(names):
        print(f"ship.py: {name!r} is no name of a session", file=sys.stderr)
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        ok = all(list(pool.map(lambda name: export(args, name), names))) and names == found
    try:
        # The checkpoints first: the ledger then has all that they cover.
        send_file(args, "ledger.checkpoints", "ledger.checkpoints")
        send_file(args, "ledger", "ledger.jsonl")
    except OSError as e:
        print(f"ship.py: ledger: {e}", file=sys.stderr)
        ok = False
    print(f"{len(names)} sessions")
    return 0 if ok else 1


sys.exit(main())
