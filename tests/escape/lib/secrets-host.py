# SPDX-License-Identifier: Apache-2.0
# Part of ../secrets.sh: runs the attempts inside, and is the host that they ask to act.
import os, subprocess, sys, threading
WARDFS, INSIDE = sys.argv[1:3]
stop = threading.Event()


def put(p, text):
    with open(p, "w") as f:
        f.write(text)


def git(*args):
    subprocess.run(("git",) + args, check=True, stdout=subprocess.DEVNULL)


def replace(p):
    put("../secret", "SECRET\n")
    os.rename("../secret", p)


def fresh(p):
    """A file of the host's, not one of the session's that is written to: that stays the session's."""
    with open(p, "x") as f:
        f.write("SECRET\n")


def race():
    while not stop.is_set():
        for act in (lambda: replace(".env"), lambda: os.unlink(".env"), lambda: fresh(".env"),
                    lambda: os.unlink(".env")):
            try:
                act()
            except (FileNotFoundError, FileExistsError):
                pass
        stop.wait(0.0003)


def edit():
    with open(".env.production", "a") as f:
        f.write("SECRET\n")


def fill():
    os.mkdir("dir")
    put("dir/.env", "SECRET\n")
    put("dir/file", "x")


racer = threading.Thread(target=race)


def end_race():
    stop.set()
    racer.join()


def commit():
    git("add", "-f", "new.pem")


acts = {
    "make .env": lambda: put(".env", "SECRET\n"), "remove .env": lambda: os.unlink(".env"),
    "replace .env": lambda: replace(".env"), "edit .env.production": edit, "fill dir": fill,
    "commit new.pem": commit, "untrack new.pem": lambda: git("rm", "-q", "--cached", "new.pem"),
    "reload": lambda: subprocess.run((WARDFS, "policy", "reload", "secrets", "../policy"),
                                     check=True, stdout=subprocess.DEVNULL),
    "race": racer.start, "stop": end_race,
}
with open(INSIDE) as f:
    text = f.read()
p = subprocess.Popen((WARDFS, "run", "-s", "secrets", "--policy", "../policy", "--", "python3", "-c", text),
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
ended = False
try:
    for line in p.stdout:
        ended = line.strip() == "end"
        if not ended:
            acts[line.strip()]()
            p.stdin.write("done\n")
            p.stdin.flush()
finally:
    stop.set()
    p.stdin.close()
    status = p.wait()
assert ended and status == 0, (ended, status)
