# SPDX-License-Identifier: Apache-2.0
# Part of ../races-links.sh.
import os, random, sys, time
who, back = sys.argv[1:3]
end = time.monotonic() + (60 if os.environ.get("WARD_LONG") else 3)
def tries(f, *a):
    try:
        f(*a)
        return True
    except OSError:
        return False
def write(p):
    os.close(os.open(p, os.O_WRONLY))
def makes(at):
    n = "%s/l%d" % (at, random.randrange(4))
    tries(os.link, at + "/" + random.choice(("outside", "inside")), n)
    tries(os.unlink, "%s/l%d" % (at, random.randrange(4)))
def look():
    for i in range(4):
        tries(os.stat, "l%d" % i)
    for i in "0123456789abcdefghij":
        tries(os.stat, "inside" + i)
        tries(os.stat, "outside" + i)
def attack():
    global won
    for what in (write, lambda p: os.truncate(p, 0), lambda p: os.chmod(p, 0o640)):
        assert not tries(what, "outside"), "changed"
        won += tries(what, "inside")
won, n = 0, 0
while time.monotonic() < end or n < 20:
    {"makes": lambda: makes("."), "host": lambda: makes(back), "look": look, "attack": attack}[who]()
    n += 1
assert who != "attack" or won, "control"
