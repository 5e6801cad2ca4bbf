# SPDX-License-Identifier: Apache-2.0
"""kill-sessions.py WARDFS POLICY ROUNDS [SEED]: sessions at work, each of which loses one of its processes by
SIGKILL at a random moment. What the command said was done, after the system call had returned, is in
the trail, once, whatever died; the trail is genuine, and says that it is incomplete. Each other round
has log = io, where no name stands on the host either without a record of how it came there. Where
wardfs-net is the one, the command has a network, and each connection that it saw refused has its
record, too."""
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

wardfs, policy, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
seed = int(sys.argv[4]) if len(sys.argv) > 4 else int.from_bytes(os.urandom(4), "little")
rng = random.Random(seed)
VICTIMS = ("audit_pid", "fs_pid", "init_pid", "pid", "net_pid")
BOUND = 120  # seconds, of a machine that is very busy; then it hangs
STATE = os.path.join(os.environ["XDG_STATE_HOME"], "wardfs", "sessions")

# Runs inside. A line goes out in one piece, and behind what it speaks of.
WORK = r"""
import os, socket, sys, threading
w = sys.argv[1]
os.mkdir(w)
def ask(t, i):
    where = (f"192.0.2.{1 + t}", 1 + i % 60000)
    try:
        socket.create_connection(where).close()
    except ConnectionRefusedError:
        os.write(1, f"refuse {where[0]}:{where[1]}\n".encode())
def work(t):
    for i in range(100000):
        n = f"{w}/{t}-{i}"
        def done(what):
            os.write(1, f"{what} /workspace/{n}\n".encode())
        fd = os.open(n, os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"x")
        os.close(fd)
        done("create")
        os.close(os.open(n, os.O_RDONLY))
        done("open")
        try:
            os.open(f"denied/{w}-{t}-{i}", os.O_WRONLY | os.O_CREAT)
        except PermissionError:
            os.write(1, f"deny /workspace/denied/{w}-{t}-{i}\n".encode())
        os.rename(n, n + "r")
        done("rename")
        os.unlink(n + "r")
        os.write(1, f"remove /workspace/{n}r\n".encode())
        if sys.argv[2:] == ["net"]:
            ask(t, i)
for t in range(2):
    threading.Thread(target=work, args=(t,)).start()
"""


def fail(text):
    sys.exit(f"seed {seed}: {text}")


def pids_of(name):
    told = subprocess.run([wardfs, "ps", "--json"], capture_output=True, text=True, check=False)
    return next((s for s in json.loads(told.stdout or "[]") if s["session"] == name), None)


def until(what, condition):
    end = time.monotonic() + BOUND
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.005)
    return fail("nothing came of: " + what)


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def recorded(name):
    seen = collections.Counter()
    with open(f"{STATE}/{name}/trail.jsonl", encoding="utf-8") as f:
        for line in f:
            if not line.endswith("\n"):
                break
            r = json.loads(line)
            if r["ring"] > 0 and "errno" not in r or r["kind"] == "deny":
                refused = r["kind"] == "deny" and r.get("action") == "connect"
                seen[f"refuse {r.get('addr')}:{r.get('port')}" if refused else f"{r['kind']} {r.get('path')}"] += 1
                if r["kind"] == "rename":
                    seen[f"create {r['path2']}"] += 1
    return seen


def broker_of(supervisor):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                comm, rest = f.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if comm == "wardfs-net" and int(rest.split()[1]) == supervisor:
            return int(pid)
    return None


def one(name, victim, io):
    net = victim == "net_pid"
    with open("told", "wb") as out, open("err", "wb") as err:
        run = subprocess.Popen([wardfs, "run", "--policy", POLICIES[io, net], "--session", name, "--", "python3", "-c",
                                WORK, name] + ["net"] * net, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
    try:
        return killed(name, victim, run, io)
    finally:
        if run.poll() is None:
            run.kill()
            run.wait()


def killed(name, victim, run, io):
    until(f"{name} at work", lambda: os.path.getsize("told") > 200 or run.poll() is not None)
    session = pids_of(name) or fail(f"{name}: it is not there: {open('err', encoding='utf-8').read()}")
    if victim == "net_pid":
        session[victim] = broker_of(session["pid"]) or fail(f"{name}: no wardfs-net")
    time.sleep(rng.random() * 0.15)
    os.kill(session[victim], signal.SIGKILL)
    try:
        run.wait(BOUND)
    except subprocess.TimeoutExpired:
        fail(f"{name}: it goes on without its {victim}")
    for p in ("audit_pid", "fs_pid", "init_pid"):
        until(f"{name}: the end of {p}", lambda p=p: gone(session[p]))
    with open("told", encoding="utf-8") as f:
        told = [line.rstrip("\n") for line in f if line.endswith("\n")]
    seen = recorded(name)
    missing = [t for t in told if not seen[t]]
    # With log = io the making of a file is a record before it, and its open one behind.
    twice = [t for t in told if seen[t] > (2 if io and t.startswith("open ") else 1)]
    if missing or twice or len(told) < 3:
        fail(f"{name}: {len(told)} told, missing {missing[:3]}, more than once {twice[:3]}")
    stands = [n for n in os.listdir(name) if io and not seen[f"create /workspace/{name}/{n}"]]
    if stands:
        fail(f"{name}: without a record on the host: {stands}")
    verdict = subprocess.run([wardfs, "audit", "verify", "--json", name], capture_output=True, text=True,
                             check=False)
    states = {v["name"]: v["state"] for v in json.loads(verdict.stdout)}
    with open(f"{STATE}/{name}/trail.jsonl", encoding="utf-8") as f:
        last = json.loads(f.readlines()[-1])
    if states.get(name) != "incomplete" or not last.get("text"):
        fail(f"{name}: {states} {verdict.stderr}")
    shutil.rmtree(name)
    subprocess.run([wardfs, "audit", "remove", name], check=False, capture_output=True)
    return len(told)


POLICIES = {}
with open(policy, encoding="utf-8") as given:
    text = given.read()
for io in (False, True):
    for net in (False, True):
        POLICIES[io, net] = os.path.abspath(f"../kill-{io:d}{net:d}.policy")
        with open(POLICIES[io, net], "w", encoding="utf-8") as f:
            f.write(text + "[audit]\nlog = io\n" * io + "[network]\nmode = allowlist\nallow = nobody.example\n" * net)
total = 0
for number in range(rounds):
    for who in VICTIMS:
        total += one(f"{who.replace('_', '-')}-{number}", who, number % 2 == 1)
print(f"seed {seed}: {rounds} rounds of {len(VICTIMS)}, {total} operations told, all recorded once")
