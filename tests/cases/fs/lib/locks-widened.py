# SPDX-License-Identifier: Apache-2.0
"""locks-widened.py BACKING: a file of mode 0400 is locked for reading. Then its mode changes, and the
same program locks it for writing through another descriptor. All its locks hold, and end with it."""
import fcntl
import os
import subprocess
import sys

# START LENGTH of what another program can not lock for writing.
LOOK = """
import fcntl, sys
f = open(sys.argv[1], "r+b")
for at in range(0, 100, 5):
    try:
        fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, at)
        fcntl.lockf(f, fcntl.LOCK_UN, 5, at)
    except OSError:
        print(at, end=" ")
"""


def busy(path):
    return subprocess.check_output([sys.executable, "-c", LOOK, path], text=True).split()


os.close(os.open("w", os.O_CREAT | os.O_RDWR, 0o400))
reader = os.open("w", os.O_RDONLY)
fcntl.lockf(reader, fcntl.LOCK_SH, 10, 0)
fcntl.lockf(reader, fcntl.LOCK_SH, 0, 80)
os.chmod("w", 0o600)
writer = os.open("w", os.O_RDWR)
fcntl.lockf(writer, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 40)
fcntl.lockf(writer, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 0)
for path in "w", os.path.join(sys.argv[1], "w"):
    if busy(path) != ["0", "5", "40", "80", "85", "90", "95"]:
        sys.exit(f"{path}: locked are {busy(path)}")
fcntl.lockf(reader, fcntl.LOCK_UN, 5, 5)
if busy("w") != ["0", "40", "80", "85", "90", "95"]:
    sys.exit(f"unlocked through the first descriptor: {busy('w')}")
os.close(writer)
for path in "w", os.path.join(sys.argv[1], "w"):
    if busy(path):
        sys.exit(f"{path}: locks outlive the closing of a descriptor: {busy(path)}")
os.close(reader)
os.unlink("w")
