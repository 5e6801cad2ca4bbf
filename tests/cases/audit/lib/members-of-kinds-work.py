# SPDX-License-Identifier: Apache-2.0
# Part of ../members-of-kinds.sh.
"""Work that makes a record of nearly every kind."""
import ctypes, fcntl, os, socket, subprocess


def tried(what, *args, **more):
    try:
        return what(*args, **more)
    except OSError:
        return None


libc = ctypes.CDLL(None, use_errno=True)
with open("new", "w") as f:
    f.write("text\n")
with open("new", "r+") as f:
    fcntl.lockf(f, fcntl.LOCK_EX)
    fcntl.flock(f, fcntl.LOCK_SH)
    f.read()
    f.truncate(2)
os.mkdir("dir")
os.symlink("new", "soft")
os.link("new", "hard")
os.mkfifo("fifo")
open("old", "w").close()
os.rename("old", "older")
os.rename("older", "hard")
open("left", "w").close()
libc.renameat2(-100, b"left", -100, b"new", 2)
os.chmod("new", 0o600)
os.utime("new")
tried(os.chown, "new", 0, 0)
tried(os.setxattr, "new", "user.some", b"value")
tried(os.removexattr, "new", "user.none")
tried(os.truncate, "left", 1)
tried(os.link, "left", "dir")
tried(os.rename, "dir", "left/x")
os.remove("soft")
os.rmdir("dir")
tried(open, ".env")
tried(os.rename, "left", ".env")
tried(open, ".git/config", "w")
tried(open, "big", "w")
with open("full", "wb") as f:
    tried(f.write, bytes(4 << 20))
    tried(f.flush)

for to in ("203.0.113.1", 80), ("203.0.113.1", 443):
    with socket.socket() as s:
        tried(s.connect, to)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    tried(s.sendto, b"x", ("203.0.113.1", 53))
tried(socket.getaddrinfo, "refused.example", 443)
subprocess.call(["./prog"])
