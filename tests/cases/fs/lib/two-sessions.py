# SPDX-License-Identifier: Apache-2.0
"""two-sessions.py first|second alone|turns|race: inside one of two sessions of one project.

Standard input and output are pipes between them. A letter through one of them passes the turn."""
import os
import sys
import time

who, what = sys.argv[1:3]
TRIES = 40


def give():
    os.write(1, b"x")


def take():
    if not os.read(0, 1):
        sys.exit(f"{who}: the other one has ended")


def move(source, target, **dirs):
    """The errno, 0: moved."""
    try:
        os.rename(source, target, **dirs)
    except OSError as e:
        return e.errno
    return 0


def secret():
    """What stands at the name that may be read."""
    try:
        with open("a/certs/pub.pem") as f:
            return f.read()
    except OSError:
        return None


def check(ok, text):
    if not ok:
        sys.exit(f"{who}: {text}")


def soon(path):
    end = time.monotonic() + 60
    while not os.path.lexists(path):
        check(time.monotonic() < end, f"{path} does not appear")
        time.sleep(0.01)


def again():
    """Makes d anew, with what lay in it."""
    os.mkdir("d")
    if os.path.lexists("a/full"):
        check(move("a/full", "d/full") == 0, "what lay in d")
    os.rmdir("a")


def alone():
    """Each move succeeds by itself, and what a session puts at the name is read."""
    if who == "second":
        take()
        d = os.open("d", os.O_RDONLY)
        check(move("p/certs", "certs", dst_dir_fd=d) == 0, "a directory with a secret")
        check(move("certs", "p/certs", src_dir_fd=d) == 0, "and back")
        give()
        take()
        return
    check(move("d", "a") == 0, "a directory without one")
    again()
    give()
    take()
    os.makedirs("a/certs")
    with open("p/plain", "w") as f:
        f.write("plain\n")
    check(not os.path.lexists("p/certs/pub.pem"), "the secret is visible")
    check(move("p/certs", "a/other") == 0, "to where no rule gives more")
    check(move("a/other", "p/certs") == 0, "and back")
    check(move("p", "a/x") == 0 and move("a/x", "p") == 0, "deeper")
    check(move("p/certs", "a/certs") != 0, "to where a rule gives it")
    give()


def turns():
    """The first one moves, the second one follows at once by the name that it knows."""
    for _ in range(TRIES):
        if who == "first":
            soon("d")
            take()
            check(move("d", "a") == 0, "d is not moved")
            give()
            take()
            check(secret() is None, "the secret is read")
            again()
            give()
            continue
        soon("d")
        os.stat("d")
        d = os.open("d", os.O_RDONLY)
        give()
        take()
        moved = move("p/certs", "certs", dst_dir_fd=d)
        check(secret() is None, "the secret is read")
        give()
        take()
        if moved == 0:
            check(move("certs", "p/certs", src_dir_fd=d) == 0, "it does not come back")
        os.close(d)


def race():
    """Both at once: the first one looks at what lies in d for some milliseconds before it moves."""
    for i in range(TRIES):
        if who == "first":
            soon("d")
            take()
            went = move("d", "a")
            check(secret() is None, "the secret is read")
            give()
            take()
            check(secret() is None, "the secret is read later")
            if went == 0:
                again()
            give()
            continue
        soon("d")
        d = os.open("d", os.O_RDONLY)
        give()
        time.sleep(i % 20 / 2000)
        moved = move("p/certs", "certs", dst_dir_fd=d)
        check(secret() is None, "the secret is read")
        take()
        if moved == 0:
            check(move("certs", "p/certs", src_dir_fd=d) == 0, "it does not come back")
        os.close(d)
        give()
        take()


{"alone": alone, "turns": turns, "race": race}[what]()
